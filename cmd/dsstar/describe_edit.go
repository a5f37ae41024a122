package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	tty "golang.org/x/term"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// editDescription lets the user edit the description of a file, and stores the result as a
// correction.
func (a *app) editDescription(ctx context.Context, j job, folder dataFiles, said string) error {
	name, ok := folder.file(said)
	if !ok {
		return folder.unknown(said, func(near string) []string { return []string{"--edit", near} })
	}
	// Checked before anything is paid for.
	editor, err := a.editor(folder, name)
	if err != nil {
		return err
	}
	before, err := a.descriptionOf(ctx, &j, name)
	if err != nil {
		return err
	}
	j.progress.Wait("")
	j.progress.Stop() // the editor needs the terminal
	path, err := writeDraft("dsstar-description-*.txt", before)
	if err != nil {
		return err
	}
	after, err := a.edited(ctx, editor, path)
	switch {
	case err != nil:
		err = fmt.Errorf("%w; the description is unchanged", err)
		// An editor that failed may have saved the text.
		if text, readErr := disk.ReadFile(path, disk.MaxDocument); readErr == nil &&
			tidy(string(text)) != tidy(before) {
			return fmt.Errorf("%w\nyour text: %s", err, path)
		}
	case after == tidy(before):
		j.progress.Say(unchanged, term.Printable(name))
	default:
		if err := a.keepCorrection(j, name, after); err != nil {
			return fmt.Errorf("%w\nyour text: %s", err, path)
		}
	}
	_ = os.Remove(path) // best effort: it is a temporary file
	return err
}

const unchanged = "correct  %s: nothing has changed"

// descriptionOf returns the text to edit: the correction or else the description, which it creates
// if necessary; "" if the file could not be described.
func (a *app) descriptionOf(ctx context.Context, j *job, name string) (string, error) {
	corrections, err := a.corrections(j.task.Data)
	if err != nil {
		return "", err
	}
	if text, ok := corrections[name]; ok {
		return text, nil
	}
	t, err := a.descriptions(ctx, j, []string{name})
	if err != nil {
		return "", err
	}
	for _, d := range t.Descriptions {
		if d.File == name {
			if d.Error != "" {
				j.progress.Warn("%s is not described: %s", term.Printable(name), d.Error)
			}
			return d.Text, nil
		}
	}
	return "", nil
}

// setDescription stores a correction given as FILE=TEXT, FILE=@PATH or FILE=-. FILE may contain
// a =.
func (a *app) setDescription(j job, folder dataFiles, arg string) error {
	for i := range len(arg) {
		if arg[i] != '=' {
			continue
		}
		if name, ok := folder.file(arg[:i]); ok {
			text, err := a.given(arg[i+1:])
			if err != nil {
				return err
			}
			return a.keepCorrection(j, name, text)
		}
	}
	said, value, ok := strings.Cut(arg, "=")
	if !ok {
		return usage.New("--set: "+arg+" is not FILE=TEXT, FILE=@PATH or FILE=-",
			folder.line("--set", "FILE=@PATH").Hint())
	}
	return folder.unknown(said,
		func(near string) []string { return []string{"--set", near + "=" + value} })
}

// given returns the text that a value of --set stands for.
func (a *app) given(value string) (string, error) {
	path, isFile := strings.CutPrefix(value, "@")
	var text []byte
	var err error
	switch {
	case value == "-":
		text, err = io.ReadAll(io.LimitReader(a.stdin, mostCorrection+1))
	case isFile:
		if text, err = readNamed(path, 16*mostCorrection); errors.Is(err, os.ErrNotExist) {
			return "", usage.New("--set: no such file: "+path,
				usage.Shell("dsstar describe DIR --set FILE=TEXT   # or FILE=@PATH, or FILE=-"))
		}
	default:
		text = []byte(value)
	}
	if err != nil {
		return "", fmt.Errorf("read the description: %w", err)
	}
	return tidy(string(text)), nil
}

// mostCorrection is the size limit of a correction in bytes, far above what models see of one file.
const mostCorrection = 1 << 20

// keepCorrection stores a text as the correction of a file, or removes the correction if it is
// empty, and reports it.
func (a *app) keepCorrection(j job, name, text string) error {
	switch {
	case !utf8.ValidString(text):
		return usage.New("the description is not text in UTF-8",
			usage.Shell("iconv -f LATIN1 -t UTF-8 FILE"))
	case !utf8.ValidString(name):
		return usage.New("the name "+term.Printable(name)+
			" is not valid UTF-8, so that no cell can name the file",
			usage.Shell("mv OLD NEW   # a name in UTF-8"))
	case len(text) > mostCorrection:
		return usage.New(fmt.Sprintf("the description has %s, more than the limit of %s",
			human.Bytes(int64(len(text))), human.Bytes(mostCorrection)),
			usage.Shell("dsstar describe --help"))
	}
	corrections, err := a.corrections(j.task.Data)
	if err != nil {
		return err
	}
	had, corrected := corrections[name]
	switch {
	case text == "" && !corrected:
		j.progress.Say("correct  %s: there is no correction to take back", term.Printable(name))
		return nil
	case text == had:
		j.progress.Say(unchanged, term.Printable(name))
		return nil
	}
	if err := a.correct(j.task.Data, name, text); err != nil {
		return err
	}
	if text == "" {
		j.progress.Say("correct  %s: your text is taken back, and later runs use the description again",
			term.Printable(name))
		return nil
	}
	j.progress.Say("correct  %s: later runs on %s use your text", term.Printable(name), j.task.Data)
	if most := j.settings.DescriptionChars; len(text) > most {
		j.progress.Warn("it has %d characters, and models are shown %d (description_chars)", len(text),
			most)
	}
	return nil
}

// tidy removes white space that editors add.
func tidy(text string) string {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	if text = strings.TrimRight(text, " \t\n"); strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// writeDraft writes a text to a temporary file for an editor.
func writeDraft(name, text string) (path string, err error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return "", err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // as editors end files
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

// editors are tried in this order if the user has named none.
var editors = []string{"sensible-editor", "editor", "nano", "vim", "vi"}

// editor returns the user's editor as a command for the shell.
func (a *app) editor(folder dataFiles, name string) (string, error) {
	instead := folder.line("--set", name+"=@PATH").Hint()
	if !a.stdinTTY || !a.stderrTTY {
		return "", usage.New("--edit needs a terminal for the editor", instead)
	}
	if editor := a.someEditor(); editor != "" {
		return editor, nil
	}
	return "", usage.New("--edit: no editor found", usage.Shell("export EDITOR=COMMAND"), instead)
}

// someEditor returns the user's editor as a shell command, or an installed one, or "".
func (a *app) someEditor() string {
	for _, env := range []string{"VISUAL", "EDITOR"} {
		if editor := strings.TrimSpace(a.Getenv(env)); editor != "" {
			return editor
		}
	}
	for _, editor := range editors {
		if path, err := exec.LookPath(editor); err == nil {
			return human.Shell(path)
		}
	}
	return ""
}

// edited runs the editor on a file, on the user's terminal, and returns the edited text. The
// editor may have arguments, as in code --wait. Ctrl-C goes to the editor. The terminal's mode
// is restored.
func (a *app) edited(ctx context.Context, editor, path string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, path)
	if whole, err := exec.LookPath(editor); err == nil { // a path with spaces
		cmd = exec.CommandContext(ctx, whole, path)
	}
	cmd.Env = a.Env
	// stdout may be a file, so stderr is the terminal.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, term.Unwrapped(a.stderr), term.Unwrapped(a.stderr)
	// SIGTERM first, on which most editors save the text.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if f, ok := a.stdin.(*os.File); ok {
		if was, err := tty.GetState(int(f.Fd())); err == nil {
			defer tty.Restore(int(f.Fd()), was)
		}
	}
	a.editors.Store(math.MaxInt64)
	// A Ctrl-C that ended the editor may arrive here only afterwards.
	defer func() { a.editors.Store(time.Now().Add(time.Second).UnixNano()) }()
	if err := cmd.Run(); err != nil {
		return "", &editorError{editor, err}
	}
	text, err := disk.ReadFile(path, disk.MaxDocument)
	if err != nil {
		return "", fmt.Errorf("read the edited text: %w", err)
	}
	return tidy(string(text)), nil
}

// An editorError is an editor that could not be started or has failed.
type editorError struct {
	editor string
	err    error
}

func (e *editorError) Error() string {
	return fmt.Sprintf("the editor %s: %v", e.editor, e.err)
}
func (e *editorError) Unwrap() error { return e.err }

// Corrections are descriptions written by the user, by file name. They are stored with the
// user's settings, not in the cache, because they cannot be recreated. Data folders are
// identified by path.

// correctionsFile is the file with the corrections of a data folder.
func (a *app) correctionsFile(data string) string {
	sum := sha256.Sum256([]byte(data))
	return filepath.Join(a.configDir, "corrections", hex.EncodeToString(sum[:8])+".json")
}

type correctionsRecord struct {
	Data  string            `json:"data"` // the folder, for whoever reads the file
	Files map[string]string `json:"files"`
}

// corrections reads the corrections of a data folder.
func (a *app) corrections(data string) (map[string]string, error) {
	if a.configDir == "" {
		return nil, nil
	}
	path := a.correctionsFile(data)
	text, err := disk.ReadFile(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var record correctionsRecord
	if err == nil {
		err = json.Unmarshal(text, &record)
	}
	if err != nil {
		return nil, fmt.Errorf("read the corrected descriptions: %s: %w", path, err)
	}
	return record.Files, nil
}

// correct stores a correction; an empty text removes it.
func (a *app) correct(data, name, text string) error {
	if a.configDir == "" {
		return errors.New("there is no settings folder to keep the correction in")
	}
	all, err := a.corrections(data)
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]string{}
	}
	if all[name] = text; text == "" {
		delete(all, name)
	}
	record, err := json.MarshalIndent(correctionsRecord{data, all}, "", "  ")
	if err != nil {
		return err
	}
	path := a.correctionsFile(data)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return disk.WriteFile(path, append(record, '\n'))
}

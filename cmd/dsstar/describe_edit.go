package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	tty "golang.org/x/term"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/notebook/disk"
)

// editDescription lets the user edit the description of a file, and keeps what
// comes of it.
func (a *app) editDescription(ctx context.Context, j job, folder dataFiles, said string) error {
	name, ok := folder.file(said)
	if !ok {
		return folder.unknown(said, func(near string) string { return "--edit " + quoteShell(near) })
	}
	// Before anything is paid for: the text could not be edited.
	editor, err := a.editor(folder, name)
	if err != nil {
		return err
	}
	before, err := a.descriptionOf(ctx, &j, name)
	if err != nil {
		return err
	}
	j.progress.wait("")
	j.progress.stop() // the terminal is the editor's
	path, err := writeDraft("dsstar-description-*.txt", before)
	if err != nil {
		return err
	}
	after, err := a.edited(ctx, editor, path)
	switch {
	case err != nil:
		err = fmt.Errorf("%w; the description is as it was", err)
		// An editor that was ended may have saved what was typed.
		if text, readErr := disk.ReadFile(path, disk.MaxDocument); readErr == nil && tidy(string(text)) != tidy(before) {
			return fmt.Errorf("%w\nyour text: %s", err, path)
		}
	case after == tidy(before):
		j.progress.say(unchanged, term.Printable(name))
	default:
		if err := a.keepCorrection(j, name, after); err != nil {
			return fmt.Errorf("%w\nyour text: %s", err, path)
		}
	}
	_ = os.Remove(path) // a temporary file; the system clears what stays
	return err
}

const unchanged = "correct  %s: nothing has changed"

// descriptionOf is the text to begin with: the correction, or else the
// description, which is made if need be; "" if the file could not be described.
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
				j.progress.warn("%s is not described: %s", term.Printable(name), d.Error)
			}
			return d.Text, nil
		}
	}
	return "", nil
}

// setDescription keeps a correction that is given as FILE=TEXT, FILE=@PATH or
// FILE=-. Names may have an = in them too.
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
		return &usageError{"--set: " + arg + " is not FILE=TEXT, FILE=@PATH or FILE=-",
			[]string{fmt.Sprintf("dsstar describe %s --set FILE=@PATH", quoteShell(folder.given))}}
	}
	return folder.unknown(said, func(near string) string { return "--set " + quoteShell(near+"="+value) })
}

// given is the text that the value of --set stands for.
func (a *app) given(value string) (string, error) {
	path, isFile := strings.CutPrefix(value, "@")
	var text []byte
	var err error
	switch {
	case value == "-":
		text, err = io.ReadAll(io.LimitReader(a.stdin, mostCorrection+1))
	case isFile:
		if text, err = readNamed(path, 16*mostCorrection); errors.Is(err, os.ErrNotExist) {
			return "", &usageError{"--set: there is no file " + path, []string{"dsstar describe DIR --set FILE=TEXT   # or FILE=@PATH, or FILE=-"}}
		}
	default:
		text = []byte(value)
	}
	if err != nil {
		return "", fmt.Errorf("read the description: %w", err)
	}
	return tidy(string(text)), nil
}

// mostCorrection is far more than a model is shown of one file.
const mostCorrection = 1 << 20

// keepCorrection keeps a text as the description of a file, or takes the
// correction back when it is empty, and tells of it.
func (a *app) keepCorrection(j job, name, text string) error {
	switch {
	case !utf8.ValidString(text):
		return &usageError{"the description is not text in UTF-8", []string{"iconv -f LATIN1 -t UTF-8 FILE"}}
	case !utf8.ValidString(name):
		return &usageError{"the name " + term.Printable(name) + " is not valid UTF-8, so that no cell can name the file", []string{"mv OLD NEW   # a name in UTF-8"}}
	case len(text) > mostCorrection:
		return &usageError{fmt.Sprintf("the description has %s; at most %s can be kept", size(int64(len(text))), size(mostCorrection)), []string{"dsstar describe --help"}}
	}
	corrections, err := a.corrections(j.task.Data)
	if err != nil {
		return err
	}
	had, corrected := corrections[name]
	switch {
	case text == "" && !corrected:
		j.progress.say("correct  %s: there is no correction to take back", term.Printable(name))
		return nil
	case text == had:
		j.progress.say(unchanged, term.Printable(name))
		return nil
	}
	if err := a.correct(j.task.Data, name, text); err != nil {
		return err
	}
	if text == "" {
		j.progress.say("correct  %s: your text is taken back, and later runs use the description again", term.Printable(name))
		return nil
	}
	j.progress.say("correct  %s: later runs on %s use your text", term.Printable(name), j.task.Data)
	if most := j.settings.DescriptionChars; len(text) > most {
		j.progress.warn("it has %d characters, and models are shown %d (description_chars)", len(text), most)
	}
	return nil
}

// tidy is a text without what editors put around it.
func tidy(text string) string {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	if text = strings.TrimRight(text, " \t\n"); strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// writeDraft puts a text into a temporary file of such a name, for an editor.
func writeDraft(name, text string) (path string, err error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return "", err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // as editors leave it
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

// editors are tried in this order where the user has named none.
var editors = []string{"sensible-editor", "editor", "nano", "vim", "vi"}

// editor returns the user's editor as a command for the shell.
func (a *app) editor(folder dataFiles, name string) (string, error) {
	instead := fmt.Sprintf("dsstar describe %s --set %s   # or =-: from standard input", quoteShell(folder.given), quoteShell(name+"=@PATH"))
	if !a.stdinTTY || !a.stderrTTY {
		return "", &usageError{"--edit needs a terminal for the editor", []string{instead}}
	}
	if editor := a.someEditor(); editor != "" {
		return editor, nil
	}
	return "", &usageError{"--edit: no editor is found", []string{"export EDITOR=COMMAND", instead}}
}

// someEditor returns the user's editor as a command for the shell, or one that is
// there; "" if none is.
func (a *app) someEditor() string {
	for _, env := range []string{"VISUAL", "EDITOR"} {
		if editor := strings.TrimSpace(a.getenv(env)); editor != "" {
			return editor
		}
	}
	for _, editor := range editors {
		if path, err := exec.LookPath(editor); err == nil {
			return quoteShell(path)
		}
	}
	return ""
}

// edited runs the editor on a file, at the user's terminal, and returns the text
// that it leaves. The editor may have arguments of its own: code --wait. Ctrl-C is
// the editor's, and the terminal is left as it was, whatever the editor does to it.
func (a *app) edited(ctx context.Context, editor, path string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, path)
	if whole, err := exec.LookPath(editor); err == nil { // a path with a blank in it
		cmd = exec.CommandContext(ctx, whole, path)
	}
	cmd.Env = a.env
	// The terminal is behind stderr, also where stdout is a file.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, term.Unwrapped(a.stderr), term.Unwrapped(a.stderr)
	// Asked to end first: most editors then keep what was typed.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if f, ok := a.stdin.(*os.File); ok {
		if was, err := tty.GetState(int(f.Fd())); err == nil {
			defer tty.Restore(int(f.Fd()), was)
		}
	}
	a.editors.Store(math.MaxInt64)
	// A Ctrl-C that ended the editor may reach us only after the editor's end.
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

// An editorError is an editor that could not be run, or that says that it failed.
type editorError struct {
	editor string
	err    error
}

func (e *editorError) Error() string {
	return fmt.Sprintf("the editor %s: %v", e.editor, e.err)
}
func (e *editorError) Unwrap() error { return e.err }

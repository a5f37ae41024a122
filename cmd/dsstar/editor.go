package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	tty "golang.org/x/term"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// tidy removes white space that editors add; it changes nothing of a text that it has tidied.
func tidy(text string) string {
	for strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	text = strings.TrimLeft(text, "\ufeff")
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

// someEditor returns the user's editor as a shell command, or an installed one, or "".
func (a *app) someEditor() string {
	for _, env := range []string{"VISUAL", "EDITOR"} {
		if editor := strings.TrimSpace(a.host.Getenv(env)); editor != "" {
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
	cmd.Env = a.host.Env
	// stdout may be a file, so stderr is the terminal.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, ui.Unwrapped(a.stderr), ui.Unwrapped(a.stderr)
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
		return "", fmt.Errorf("the editor %s: %w", editor, err)
	}
	text, err := disk.ReadFile(path, disk.MaxDocument)
	if err != nil {
		return "", fmt.Errorf("read the edited text: %w", err)
	}
	return tidy(string(text)), nil
}

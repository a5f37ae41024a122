package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	tty "golang.org/x/term"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/disk"
)

// edit lets the user edit a cell. If that fails or changes nothing, it says so and returns the code
// unchanged. The error is that of ctx.
func (v *reviewer) edit(ctx context.Context, code string) (string, error) {
	editor := strings.TrimSpace(cmp.Or(v.app.host.Getenv("VISUAL"), v.app.host.Getenv("EDITOR"), "vi"))
	var err error
	if v.draft == "" {
		v.draft, err = writeDraft(code)
	}
	var text string
	if err == nil {
		text, err = v.app.edited(ctx, editor, v.draft)
	}
	if err != nil { // an editor that failed may have saved the text
		v.tell(fmt.Sprintf("         %s; the cell is as it was\n         your text: %s",
			ui.Clean(err.Error()), ui.Clean(v.draft)))
		return code, ctx.Err()
	}
	switch text = tidy(text); {
	case !utf8.ValidString(text):
		v.tell("         what you wrote is not text in UTF-8; the cell is as it was")
	case text == "":
		v.tell("         the cell is empty; it is as it was")
	case text == tidy(code):
		v.tell("         nothing has changed")
	default:
		return text, nil
	}
	return code, nil
}

// writeDraft writes a cell to a temporary file for an editor.
func writeDraft(code string) (path string, err error) {
	f, err := os.CreateTemp("", "dsstar-review-*.py")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(code + "\n")
	return f.Name(), errors.Join(err, f.Close())
}

var lineEnd = regexp.MustCompile("\r+\n")

// tidy removes white space that editors add; it changes nothing of a text that it has tidied.
func tidy(text string) string {
	text = strings.TrimLeft(lineEnd.ReplaceAllString(text, "\n"), "\ufeff")
	return strings.TrimRight(text, " \t\n")
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
	return string(text), nil
}

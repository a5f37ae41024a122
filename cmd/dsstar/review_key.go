package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	tty "golang.org/x/term"

	"dsstar/cmd/dsstar/internal/ui"
)

// stopKey is what key returns at the end of input and for Ctrl-C, which sends no signal in raw
// mode.
const stopKey = "s"

// chosen are the names of the decisions.
var chosen = map[string]string{"a": "accept", "e": "edit", "r": "reject", "l": "accept all",
	stopKey: "stop"}

// key asks for one key, or for a line if the terminal has no raw mode, and returns it in lower
// case. It always restores the terminal's mode. The error is that of ctx.
func (v *reviewer) key(ctx context.Context, prompt string) (string, error) {
	text, raw, err := v.rawKey(ctx, prompt)
	if !raw {
		text, err = v.line(ctx, prompt)
		text = strings.TrimSpace(text)
	}
	if text = strings.ToLower(text); ctx.Err() == nil &&
		(err != nil || text == "\x03" || text == "\x04") {
		text = stopKey
	}
	if raw {
		v.tell(chosen[text])
	}
	return text, ctx.Err()
}

// rawKey reads one key press; raw is false if the terminal has no raw mode. It discards what
// was typed before the question.
func (v *reviewer) rawKey(ctx context.Context, prompt string) (text string, raw bool, err error) {
	f, ok := v.app.stdin.(*os.File)
	if !ok || v.app.host.Getenv("TERM") == "dumb" {
		return "", false, nil
	}
	was, err := tty.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", false, nil
	}
	defer tty.Restore(int(f.Fd()), was)
	ui.DropInput(int(f.Fd()))
	fmt.Fprint(v.app.stderr, prompt) // no line break: in raw mode it would need a carriage return
	text, err = v.read(ctx)
	return text, true, err
}

// line asks for a line.
func (v *reviewer) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(v.app.stderr, prompt)
	text, err := v.read(ctx)
	if !strings.HasSuffix(text, "\n") {
		v.tell("") // Enter was not pressed
	}
	return text, err
}

// read returns the next input from the terminal: a line, or in raw mode a key press.
func (v *reviewer) read(ctx context.Context) (string, error) {
	type input struct {
		text string
		err  error
	}
	came := make(chan input, 1)
	go func() { // a read from a terminal cannot be cancelled; it ends with the program
		b := make([]byte, 4096)
		n, err := v.app.stdin.Read(b)
		if n > 0 {
			err = nil
		}
		came <- input{string(b[:n]), err}
	}()
	select {
	case in := <-came:
		return in.text, in.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
)

// interrupted replaces an error with the message for Ctrl-C.
func interrupted(err error) error {
	if s, ok := errors.AsType[*usage.Stopped](err); ok {
		return &usage.Stopped{Err: errInterrupted, Text: s.Text, Line: s.Line, Hints: s.Hints}
	}
	return errInterrupted
}

var errInterrupted = errors.New("interrupted")

// report writes the error and its hints to stderr and returns the exit code.
func (a *app) report(err error) int {
	code, text, hints := explain(err, a.line)
	var lines []string
	for line := range strings.Lines(configs.Redact(strings.TrimSpace(text))) {
		// it may contain text of models and file names
		lines = append(lines, ui.Clean(strings.TrimRight(line, "\n")))
	}
	kind := "error: "
	if code == exitInterrupted {
		kind = "" // the user asked for it
	}
	fmt.Fprintf(a.stderr, "dsstar: %s%s\n", kind, strings.Join(lines, "\n  "))
	for _, hint := range hints {
		fmt.Fprintf(a.stderr, "dsstar: hint: %s\n", ui.Clean(configs.Redact(hint)))
	}
	return code
}

// warn writes a warning to standard error, in the form that the command's progress has.
func (a *app) warn(format string, args ...any) {
	if a.progress != nil {
		a.progress.Warn(format, args...)
		return
	}
	fmt.Fprintf(a.stderr, "dsstar: warning: %s\n", ui.Clean(fmt.Sprintf(format, args...)))
}

// explain maps the error of a command line to its exit code, its text and hints.
func explain(err error, line usage.Line) (code int, text string, lines []string) {
	c, text := causeOf(err), err.Error()
	if errors.Is(err, sandbox.ErrNone) {
		text += "; nothing was run"
	}
	if s, ok := errors.AsType[*usage.Stopped](err); ok {
		c.hints = slices.Concat(s.Hints, c.hints)
		if s.Line.Command == "" { // the one that was typed, with more flags
			line.Flags = slices.Concat(s.Line.Flags, line.Flags)
		} else {
			s.Line.Takes = line.Takes
			line = s.Line
		}
	}
	return c.code, text, rendered(c.hints, line)
}

// rendered returns the hints that fit a command line, as commands to paste.
func rendered(hints []usage.Hint, line usage.Line) (lines []string) {
	for _, hint := range hints {
		if hint.Fits(line) {
			lines = append(lines, hint.On(line))
		}
	}
	return lines
}

// stopped is the error of a run that was cut short; its notebook is saved. stands is the notebook of
// the answer so far, "" if there is none.
func stopped(err error, notebook, run, stands string, goOn []usage.Flag) error {
	hints := []usage.Hint{usage.Again().Note("continues, and repeats no request")}
	if _, ok := errors.AsType[*llm.ReplayError](err); ok {
		hints = nil // the recording has ended: it needs another model
	} else if _, ok := errors.AsType[*record.EditError](err); ok {
		hints = []usage.Hint{usage.Again().Note("after you have fixed " + notebook)}
	}
	text := "notebook so far: " + notebook
	if stands != "" {
		text += "\nthe answer so far stays in " + stands
	}
	return &usage.Stopped{Err: err, Text: text, Hints: hints,
		Line: usage.Line{Command: "dsstar resume", Flags: goOn, Args: []string{run}}}
}

// noAnswer says why a completed run has no answer.
func noAnswer(t *record.Trajectory) error {
	if t.Final == nil || len(t.Final.Attempts) == 0 {
		return errors.New("no cell printed an answer")
	}
	if reason := t.Final.Attempts[len(t.Final.Attempts)-1].Execution.Reason; reason != "" {
		return errors.New("there is no answer: " + reason)
	}
	return errors.New("no cell printed an answer")
}

// Exit codes.
const (
	exitVerified    = 0
	exitError       = 1
	exitUsage       = 2
	exitNotVerified = 3
	exitCredentials = 4
	exitBudget      = 5
	exitInterrupted = 130
)

// exitHelp is the part of help about exit codes.
const exitHelp = `Exit codes:
  0    done; of an answer: verified, that is judged sufficient, printed again by a
       fresh run, derived twice, and no open reading of the question changes it
  1    error; of rerun: a cell failed, timed out or killed the kernel
  2    usage; nothing was run
  3    answered, but not verified, or dependent on a reading; of rerun --check and
       --round: something differs, or a cell fails that had run before
  4    model or server credentials
  5    budget spent
  130  interrupted, or stopped at a review`

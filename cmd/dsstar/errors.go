package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/bench"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
)

// interrupted replaces an error with the message for Ctrl-C.
func interrupted(err error) error {
	if s, ok := errors.AsType[*stoppedError](err); ok {
		stopped := *s
		stopped.err = errInterrupted
		return &stopped
	}
	if s, ok := errors.AsType[*bench.StoppedError](err); ok {
		return &bench.StoppedError{Err: errInterrupted, Out: s.Out}
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

// A stopped is an error of a run that can be continued.
type stopped interface {
	error
	Unwrap() error
	Line() usage.Line                      // the command line that continues it
	Hints(cause []usage.Hint) []usage.Hint // how to, and the hints for the cause
}

// explain maps the error of a command line to its exit code, its text and hints.
func explain(err error, line usage.Line) (code int, text string, lines []string) {
	c, text := causeOf(err), err.Error()
	if errors.Is(err, sandbox.ErrNone) {
		text += "; nothing was run"
	}
	if s, ok := errors.AsType[stopped](err); ok {
		takes := line.Takes
		line, c = s.Line(), causeOf(s.Unwrap())
		line.Takes, c.hints = takes, s.Hints(c.hints)
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

// Line is the command line that resumes the run.
func (e *stoppedError) Line() usage.Line {
	return usage.Line{Command: "dsstar resume", Flags: e.with, Args: []string{e.run}}
}

// Hints returns how to resume a stopped run, and the hints for the cause.
func (e *stoppedError) Hints(cause []usage.Hint) []usage.Hint {
	again := usage.Again()
	if _, ok := errors.AsType[*llm.ReplayError](e.err); ok {
		again, cause = usage.Again("--model", "PROVIDER/MODEL"), nil // the recording has ended
	}
	if _, ok := errors.AsType[*record.EditError](e.err); ok {
		return []usage.Hint{again.Note("after you have fixed " + cmp.Or(e.stands, e.notebook))}
	}
	if _, ok := errors.AsType[*ask.BudgetError](e.err); ok {
		cause = nil
	}
	return append([]usage.Hint{again.Note("continues, and repeats no request")}, cause...)
}

// A stoppedError is a run that was cut short; its notebook is saved.
type stoppedError struct {
	err      error
	notebook string       // its path
	run      string       // the run folder
	stands   string       // the notebook of the answer so far; "": there is none
	with     []usage.Flag // needed to resume it
}

func (e *stoppedError) Error() string {
	text := fmt.Sprintf("%v\nnotebook so far: %s", e.err, e.notebook)
	if e.stands != "" {
		text += "\nthe answer so far stays in " + e.stands
	}
	return text
}
func (e *stoppedError) Unwrap() error { return e.err }

// noAnswer says why a completed run has no answer.
func noAnswer(t *record.Trajectory) error {
	if t.Final == nil || len(t.Final.Attempts) == 0 {
		return errors.New("no cell printed an answer")
	}
	switch reason := t.Final.Attempts[len(t.Final.Attempts)-1].Execution.Reason; reason {
	case "":
		return errors.New("no cell printed an answer")
	default:
		return errors.New("there is no answer: " + reason)
	}
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

// An exitMeaning says what an exit code means.
type exitMeaning struct {
	code    int
	meaning string
}

// What the exit codes of the commands mean. README.md and docs/results.md have those of a run.
var (
	runExits = []exitMeaning{
		{exitVerified, "verified: judged sufficient, printed again by a fresh run, derived twice,\n" +
			"and no open reading of the question changes it"},
		{exitError, "error"},
		{exitUsage, "usage"},
		{exitNotVerified, "answered, but not verified, or dependent on a reading"},
		{exitCredentials, "model or server credentials"},
		{exitBudget, "budget spent: --max-cost, --max-calls or --max-time"},
		{exitInterrupted, "interrupted, or stopped at a review"},
	}
	describeExits = []exitMeaning{
		{exitVerified, "printed, even if a file could not be described"},
		{exitError, "error"},
		{exitUsage, "usage"},
		{exitCredentials, "model or server credentials"},
		{exitBudget, "budget spent"},
		{exitInterrupted, "interrupted"},
	}
	rerunExits = []exitMeaning{
		{exitVerified, "every cell ran; with --check or --round: nothing differs"},
		{exitError, "a cell failed, timed out or killed the kernel; or another error"},
		{exitUsage, "usage; nothing was run"},
		{exitNotVerified, "with --check or --round: something differs, or a cell fails that had run\n" +
			"before"},
		{exitInterrupted, "interrupted"},
	}
	benchExits = []exitMeaning{
		{exitVerified, "done: every task with data has a result, right or wrong"},
		{exitError, "error"},
		{exitUsage, "usage"},
		{exitCredentials, "model or server credentials"},
		{exitBudget, "budget spent: --total-cost, --total-calls or --total-time"},
		{exitInterrupted, "interrupted"},
	}
)

// exitHelp returns the part of a command's help about its exit codes.
func exitHelp(codes []exitMeaning) string {
	var b strings.Builder
	b.WriteString("Exit codes:")
	for _, e := range codes {
		fmt.Fprintf(&b, "\n  %-4d %s", e.code, strings.ReplaceAll(e.meaning, "\n", "\n       "))
	}
	return b.String()
}

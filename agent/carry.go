package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A task is a cell that is to be written, run, and repaired until it serves: a step's, the last one,
// or that of a branch, which runs beside the accepted cells: the second derivation, or the answer under
// another reading.
type task struct {
	branch   string // "second derivation", "reading 1, option 2"; "": the cell becomes one of the notebook
	step     int    // its number in the plan, from 1; 0: the last cell, or a branch
	text     string // what the cell is to do, for the debugger and a reviewer
	code     string // the cell, if it is written already
	ask      ask.Request
	show     func() []prompts.Part // what requests to repair it begin with
	attempts *[]record.Attempt

	work   *workspace
	chain  record.Chain // that it runs on
	faults examiner
}

// An examiner returns what is wrong with a cell that ran, or "".
type examiner func(ctx context.Context, a record.Attempt) (problem string, err error)

// isLast reports whether the task is the last cell.
func (t task) isLast() bool { return t.branch == "" && t.step == 0 }

// cell returns the cell with some code as it runs.
func (t task) cell(code string) cell { return cell{code: code, branch: t.branch != ""} }

// carryOut has a cell written, runs it, and has it repaired while it fails, at most as often as the
// question's limits say. It adds each attempt to those of the task. It returns why none was good, or "".
// A last cell that a person rejects is written anew.
func (r *run) carryOut(ctx context.Context, t task) (problem string, err error) {
	tries := r.t.Limits.Tries
	if t.isLast() {
		tries += r.t.Limits.Again
	}
	for code := t.code; ; code = "" {
		n := len(*t.attempts)
		if n > 0 {
			last := (*t.attempts)[n-1]
			if problem = problemOf(last); problem == "" || n > tries || last.NotRun() && !t.isLast() {
				return problem, nil
			}
		}
		if n > 0 || code == "" {
			code, err = r.write(ctx, t)
		}
		if unread, ok := errors.AsType[*ask.Error](err); ok {
			return unread.Error(), nil
		}
		if err != nil {
			return "", err
		}
		a, err := r.reviewed(ctx, t, code)
		if elsewhere, ok := errors.AsType[*elsewhereError](err); ok && t.branch != "" {
			return elsewhere.problem, nil
		}
		if err != nil {
			return "", err
		}
		*t.attempts = append(*t.attempts, a)
		e := Event{Kind: Ran, Try: n + 1, Branch: t.branch, Text: problemOf(a), Execution: &a.Execution}
		if a.NotRun() {
			e.Kind = Rejected
		} else if t.branch != "" {
			e.Kind = Branched
		}
		if err := r.observe(e); err != nil {
			return "", err
		}
	}
}

// write asks for the cell, or to repair the last one that was tried.
func (r *run) write(ctx context.Context, t task) (string, error) {
	q := t.ask
	if n := len(*t.attempts); n > 0 {
		last := (*t.attempts)[n-1]
		q = ask.Request{Role: "debugger", Subject: fmt.Sprintf("%s, try %d", t.ask.Subject, n+1)}
		report, err := r.asker.Summarize(ctx, q.Subject, r.reportOn(last), "the cell")
		if err != nil {
			return "", err
		}
		q.Words = func() []prompts.Part { return append(t.show(), r.repairs(t, last.Code, report)) }
	}
	return ask.Role(ctx, r.asker, q, ask.Code)
}

// repairs is the request to repair a cell (Listing 56).
func (r *run) repairs(t task, code, report string) prompts.Part {
	d := prompts.Debugger{Number: t.step, Step: t.text, Code: code, Error: report}
	if t.isLast() {
		d.Number = r.t.Steps() + 1
	}
	if r.t.Method.Script {
		return prompts.PaperDebugger(d)
	}
	return d
}

// attempt runs a cell. One that ran but does not pass the examiner counts as failed.
func (r *run) attempt(ctx context.Context, t task, code string, faults examiner) (a record.Attempt, err error) {
	x, err := t.work.Run(ctx, t.chain, t.cell(code))
	a = record.Attempt{Code: code, Execution: x}
	if err != nil || a.Execution.Status != notebook.OK || faults == nil {
		return a, err
	}
	problem, err := faults(ctx, a)
	if problem != "" {
		a.Execution.Status, a.Execution.Reason = notebook.Raised, problem
	}
	return a, err
}

// problemOf returns what was wrong with an attempt in one line, or "".
func problemOf(a record.Attempt) string {
	if a.Execution.Status == notebook.OK {
		return ""
	}
	return brief.Problem(a.Execution)
}

// reportOn returns what was wrong with an attempt, for the debugger.
func (r *run) reportOn(a record.Attempt) string {
	if a.NotRun() {
		return "The cell was not run. A person who reviewed it wants another one.\n" + a.Execution.Reason
	}
	if _, raised := a.Execution.Error(); !raised && a.Execution.Status == notebook.Raised {
		return a.Execution.Reason // it ran, but is at fault
	}
	return brief.ErrorReport(a.Execution, r.asker.Sizes().Result)
}

// chain returns the cells that the next one builds on.
func (r *run) chain() record.Chain {
	c := r.t.Chain()
	if r.work.host != nil { // which has the variables
		c.SetUp = slices.DeleteFunc(c.SetUp, func(cell string) bool {
			return strings.HasPrefix(cell, record.VariablesComment)
		})
	}
	return c
}

// answerOf returns the answer of a branch's cell: the string that is its last expression, or else
// what it printed: the last line if it prints more than once.
func answerOf(a record.Attempt) string {
	text, ok := record.ResultText(a.Execution)
	if !ok {
		text = strings.TrimSpace(a.Execution.Stdout())
		if strings.Count(a.Code, "print(") > 1 {
			text = text[strings.LastIndexByte(text, '\n')+1:]
		}
	}
	return strings.TrimSpace(text)
}

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
)

// drop drops the current round's step, for which no attempt was good: the round gets verdict and
// route without the model.
func (r *run) drop(problem string) error {
	round, step := r.current(), r.t.StepOf(len(r.t.Rounds)-1)
	round.Verdict = &record.Verdict{Reason: fmt.Sprintf("step %d could not be carried out: %s",
		step, problem)}
	if round.Rejected() {
		round.Verdict.Reason = fmt.Sprintf("step %d was %s", step, problem)
	}
	round.Route = &record.Route{Back: step, Reason: problem}
	return r.observe(Event{Kind: Routed, Text: problem})
}

// An examiner returns what is wrong with a cell that ran, or "".
type examiner func(context.Context, record.Attempt) (problem string, err error)

// try has a cell written, runs it, and has it repaired while it fails, at most DebugTries times.
// first is the cell if it is written already. It adds each attempt to attempts. It returns why no
// attempt was good, or "".
func (r *run) try(ctx context.Context, q ask.Request, first string,
	repair func(record.Attempt, string) ask.Request,
	attempts *[]record.Attempt, faults examiner) (problem string, err error) {
	subject := q.Subject
	r.left = nil
	for {
		n := len(*attempts) + 1
		if n > 1 {
			last := (*attempts)[len(*attempts)-1]
			if problem = problemOf(last); problem == "" || n > r.t.Limits.Tries+1 ||
				last.NotRun() && !r.isLast(attempts) {
				return problem, nil
			}
			again := fmt.Sprintf("%s, try %d", subject, n)
			report, err := r.Summarize(ctx, again, r.reportOn(last), "the cell")
			if err != nil {
				return "", err
			}
			q = repair(last, report)
			q.Subject = again
		}
		code := first
		if n > 1 || first == "" {
			r.left = append(r.left, q)
			code, err = ask.Role(ctx, r.Asker, q, ask.Code)
		}
		if unread, ok := errors.AsType[*ask.Error](err); ok {
			return unread.Error(), nil
		} else if err != nil {
			return "", err
		}
		attempt, err := r.reviewed(ctx, attempts, code, faults)
		if err != nil {
			return "", err
		}
		*attempts = append(*attempts, attempt)
		kind := Ran
		if attempt.NotRun() {
			kind = Rejected
		}
		if err := r.observe(Event{Kind: kind, Try: n, Text: problemOf(attempt), Execution: &attempt.Execution}); err != nil {
			return "", err
		}
	}
}

// problemOf returns what was wrong with an attempt in one line, or "".
func problemOf(a record.Attempt) string {
	if a.Execution.Status == notebook.OK {
		return ""
	}
	return brief.Problem(a.Execution)
}

// reportOn returns what was wrong with an attempt, for the debugger.
func (r *requests) reportOn(a record.Attempt) string {
	if a.NotRun() {
		return "The cell was not run. A person who reviewed it wants another one.\n" + a.Execution.Reason
	}
	if _, raised := a.Execution.Error(); !raised && a.Execution.Status == notebook.Raised {
		return a.Execution.Reason // it ran, but is at fault
	}
	return brief.ErrorReport(a.Execution, r.Sizes().Result)
}

// chain returns the cells that a cell with some code builds on.
func (r *run) chain(code string) record.Chain {
	c := r.t.Chain(code)
	if r.work.host != nil { // which has the variables
		c.SetUp = slices.DeleteFunc(c.SetUp, func(cell string) bool {
			return strings.HasPrefix(cell, record.VariablesComment)
		})
	}
	return c
}

// attempt runs a cell on the accepted ones. A cell that ran but does not pass the examiner counts as
// failed.
func (r *run) attempt(ctx context.Context, code string, faults examiner) (a record.Attempt, err error) {
	x, err := r.work.Run(ctx, r.chain(code), cell{code: code})
	a = record.Attempt{Code: code, Execution: x.Execution}
	if err == nil && x.Back != nil {
		r.returned(*x.Back)
	}
	if err != nil || a.Execution.Status != notebook.OK || faults == nil {
		return a, err
	}
	problem, err := faults(ctx, a)
	if problem != "" {
		a.Execution.Status, a.Execution.Reason = notebook.Raised, problem
	}
	return a, err
}

// returned records how the session went back, at the last cell or in the current round.
func (r *run) returned(back notebook.Restoration) {
	switch final := r.t.Final; {
	case final != nil:
		final.Returns = append(final.Returns, record.Return{After: len(final.Attempts), Restoration: back})
	case len(r.t.Rounds) > r.t.EarlierRounds():
		round := r.current()
		if n := len(r.t.Rounds); len(round.Attempts) == 0 && n-1 > r.t.EarlierRounds() {
			round = &r.t.Rounds[n-2] // from which it went back
		}
		round.Returns = append(round.Returns, record.Return{After: len(round.Attempts), Restoration: back})
	}
}

const printedNothing = "the cell printed nothing; it must print the answer"

// mustPrint examines a last cell: it must print something.
func mustPrint(_ context.Context, a record.Attempt) (string, error) {
	if strings.TrimSpace(a.Execution.Stdout()) == "" {
		return printedNothing, nil
	}
	return "", nil
}

// finalized takes what the last cell printed for the answer unless there is a problem.
func (r *run) finalized(problem string) error {
	final := r.t.Final
	if problem == "" {
		last := final.Attempts[len(final.Attempts)-1].Execution
		if missing := final.Take(last); missing != "" {
			if err := r.Warn("the summary is left out: it does not say the answer, " + missing); err != nil {
				return err
			}
		}
	} else if err := r.Warn("the last cell printed no usable answer: " + problem); err != nil {
		return err
	}
	return r.observe(Event{Kind: Finalized, Text: final.Answer})
}

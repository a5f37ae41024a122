package agent

import (
	"context"
	"errors"
	"fmt"
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
	if round.Route == nil {
		round.Route = &record.Route{Back: step, Reason: problem}
	}
	return r.observe(Event{Kind: Routed, Text: problem})
}

// An examiner returns what is wrong with a cell that ran, or "".
type examiner func(context.Context, record.Attempt) (problem string, err error)

// try has a cell written, runs it in the session, and has it repaired while it fails, at most
// DebugTries times. first is the cell if it is written already. It adds each attempt to attempts;
// those already there count. It returns why no attempt was good, or "".
func (r *run) try(ctx context.Context, q ask.Request, first string,
	repair func(record.Attempt, string) ask.Request,
	attempts *[]record.Attempt, faults examiner) (problem string, err error) {
	subject := q.Subject
	for {
		n := len(*attempts) + 1
		if n > 1 {
			last := (*attempts)[len(*attempts)-1]
			if problem = problemOf(last); problem == "" || n > r.cfg.DebugTries+1 ||
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
		code, err := first, error(nil)
		if n > 1 || first == "" {
			code, err = ask.Role(ctx, r.Asker, q, ask.Code)
		}
		if unread, ok := errors.AsType[*ask.Error](err); ok {
			return unread.Error(), nil
		} else if err != nil {
			return "", err
		}
		if intact, err := r.method.ready(ctx); err != nil || !intact {
			return "an earlier step no longer runs", err
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

// attempt runs a cell. A cell that ran but does not pass the examiner counts as failed.
func (r *run) attempt(ctx context.Context, code string,
	faults examiner) (a record.Attempt, err error) {
	a.Code = code
	if a.Execution, err = r.execute(ctx, code); err != nil || a.Execution.Status != notebook.OK ||
		faults == nil {
		return a, err
	}
	problem, err := faults(ctx, a)
	if problem != "" {
		a.Execution.Status, a.Execution.Reason = notebook.Raised, problem
		r.dirty = true
	}
	return a, err
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

package agent

import (
	"context"
	"errors"
	"fmt"

	"dsstar/notebook"
	"dsstar/prompts"
)

// implement writes the cell of the round's step and tries it until it runs
// (Algorithm 1, lines 26 and 27). When no try does, the step is dropped: the
// round gets its verdict and its route from that, without the model.
func (r *run) implement(ctx context.Context) (done bool, err error) {
	round := r.current()
	step := r.t.stepOf(len(r.t.Rounds) - 1)
	parts, inputs := r.shared()
	inputs["step"] = round.Step
	parts = append(parts, prompts.Coder{Number: step, Step: round.Step, First: step == 1})
	problem, err := r.try(ctx, question{"coder", r.subject(0), parts, inputs}, func(failed Attempt, report string) question {
		parts, inputs := r.shared()
		inputs["step"], inputs["cell"], inputs["error"] = round.Step, failed.Code, report
		return question{"debugger", "", append(parts, prompts.Debugger{
			Number: step, Step: round.Step, Code: failed.Code, Error: report,
		}), inputs}
	}, &round.Attempts, nil)
	if err != nil || problem == "" {
		return err == nil, err
	}
	round.Verdict = &Verdict{Reason: fmt.Sprintf("step %d could not be carried out: %s", step, problem)}
	if round.Route == nil {
		round.Route = &Route{Back: step, Reason: problem}
	}
	return false, r.observe(Event{Kind: Routed, Text: problem})
}

// try gets a cell by the first question, runs it in the session, and gets it
// repaired by further questions while it fails, at most DebugTries times. Each
// attempt is added to attempts. check, if given, may find fault with a cell
// that ran. The result is why no attempt was good, or "".
func (r *run) try(ctx context.Context, q question, repair func(Attempt, string) question,
	attempts *[]Attempt, check func(Attempt) string) (problem string, err error) {
	subject := q.subject
	for n := 1; ; n++ {
		code, err := ask(ctx, r, q, readCode)
		if unread := (*ReplyError)(nil); errors.As(err, &unread) {
			return unread.Error(), nil
		} else if err != nil {
			return "", err
		}
		if intact, err := r.restore(ctx); err != nil || !intact {
			return "an earlier step no longer runs", err
		}
		e, err := r.execute(ctx, code)
		if err != nil {
			return "", err
		}
		attempt := Attempt{Code: code, Execution: e}
		report := errorReport(e, r.cfg.ResultChars)
		problem = ""
		if e.Status != notebook.OK {
			problem = oneLine(e)
		} else if check != nil {
			if problem = check(attempt); problem != "" {
				attempt.Execution.Status, attempt.Execution.Reason = notebook.Raised, problem
				report, r.dirty = problem, true
			}
		}
		*attempts = append(*attempts, attempt)
		if err := r.observe(Event{Kind: Ran, Try: n, Text: problem, Execution: &attempt.Execution}); err != nil {
			return "", err
		}
		if problem == "" || n > r.cfg.DebugTries {
			return problem, nil
		}
		again := fmt.Sprintf("%s, try %d", subject, n+1)
		if report, err = r.summarize(ctx, again, report, "the cell"); err != nil {
			return "", err
		}
		q = repair(attempt, report)
		q.subject = again
	}
}

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
	repair := func(failed Attempt, report string) question {
		return question{"debugger", "", r.repairWords(step, round.Step, failed, report)}
	}
	problem, err := r.try(ctx, question{"coder", r.subject(0), r.codeWords}, repair, &round.Attempts, nil)
	if err != nil || problem == "" {
		return err == nil, err
	}
	round.Verdict = &Verdict{Reason: fmt.Sprintf("step %d could not be carried out: %s", step, problem)}
	if round.Route == nil {
		round.Route = &Route{Back: step, Reason: problem}
	}
	return false, r.observe(Event{Kind: Routed, Text: problem})
}

func (r *run) codeWords() ([]prompts.Part, map[string]string) {
	round := r.current()
	step := r.t.stepOf(len(r.t.Rounds) - 1)
	coder := prompts.Coder{Number: step, Step: round.Step, First: step == 1, Script: r.cfg.Method.Script}
	parts, inputs := r.shared()
	if coder.Script {
		// Line 26: the base is the last script, also after the plan was cut.
		parts, inputs = r.asPublished(sees{context: true, plan: true, code: true})
		coder.First = inputs["code"] == ""
	}
	inputs["step"] = round.Step
	return append(parts, coder), inputs
}

// An examiner finds fault with a cell that ran; "" if there is none.
type examiner func(context.Context, Attempt) (problem string, err error)

// try gets a cell by the first question, runs it in the session, and gets it
// repaired by further questions while it fails, at most DebugTries times. Each
// attempt is added to attempts. The result is why no attempt was good, or "".
func (r *run) try(ctx context.Context, q question, repair func(Attempt, string) question,
	attempts *[]Attempt, faults examiner) (problem string, err error) {
	subject := q.subject
	for n := 1; ; n++ {
		code, err := ask(ctx, r, q, readCode)
		if unread := (*ReplyError)(nil); errors.As(err, &unread) {
			return unread.Error(), nil
		} else if err != nil {
			return "", err
		}
		if r.cfg.Method.Script {
			r.dirty = true // a fresh process for every script
		}
		if intact, err := r.restore(ctx); err != nil || !intact {
			return "an earlier step no longer runs", err
		}
		attempt, report, err := r.attempt(ctx, code, faults)
		if err != nil {
			return "", err
		}
		problem = ""
		if attempt.Execution.Status != notebook.OK {
			problem = oneLine(attempt.Execution)
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

// attempt runs a cell. One that ran, but is at fault, counts as failed for that
// reason.
func (r *run) attempt(ctx context.Context, code string, faults examiner) (a Attempt, report string, err error) {
	a.Code = code
	if a.Execution, err = r.execute(ctx, code); err != nil {
		return a, "", err
	}
	if a.Execution.Status != notebook.OK {
		return a, errorReport(a.Execution, r.showing().result), nil
	}
	if faults == nil {
		return a, "", nil
	}
	problem, err := faults(ctx, a)
	if problem != "" {
		a.Execution.Status, a.Execution.Reason = notebook.Raised, problem
		r.dirty = true
	}
	return a, problem, err
}

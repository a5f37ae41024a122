package agent

import (
	"context"
	"errors"
	"fmt"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// implement has the cell of the round's step written and repaired until it runs (Algorithm
// 1, lines 26 and 27). If no attempt runs, the step is dropped: the round gets verdict and
// route without the model.
func (r *run) implement(ctx context.Context) (done bool, err error) {
	round := r.current()
	step := r.t.StepOf(len(r.t.Rounds) - 1)
	repair := func(failed record.Attempt, report string) ask.Request {
		return ask.Request{Role: "debugger", Words: r.repairWords(step, round.Step, failed, report)}
	}
	problem, err := r.candidates(ctx)
	if err == nil && problem == "" {
		problem, err = r.try(ctx, ask.Request{Role: "coder", Subject: r.subject(0), Words: r.codeWords},
			round.Proposed, repair, &round.Attempts, nil)
	}
	if err != nil || problem == "" {
		return err == nil, err
	}
	round.Verdict = &record.Verdict{Reason: fmt.Sprintf("step %d could not be carried out: %s",
		step, problem)}
	if round.Rejected() {
		round.Verdict.Reason = fmt.Sprintf("step %d was %s", step, problem)
	}
	if round.Route == nil {
		round.Route = &record.Route{Back: step, Reason: problem}
	}
	return false, r.observe(Event{Kind: Routed, Text: problem})
}

func (r *requests) codeWords() ([]prompts.Part, map[string]string) { return r.codeWordsFor(0) }

// codeWordsFor words the request for candidate n, from 2; 0 is the only cell, or the first.
func (r *requests) codeWordsFor(candidate int) ([]prompts.Part, map[string]string) {
	round := r.current()
	step := r.t.StepOf(len(r.t.Rounds) - 1)
	coder := prompts.Coder{Number: step, Step: round.Step, First: step == 1, Script: r.t.Method.Script,
		Candidate: candidate}
	if r.t.Memory > 0 && !coder.Script {
		coder.Memory = human.StableBytes(r.t.Memory)
	}
	parts, inputs := r.shared()
	if coder.Script {
		// Line 26: the base is the last script, also after the plan was cut.
		parts, inputs = r.asPublished(sees{context: true, plan: true, code: true})
		coder.First = inputs["code"] == ""
	}
	inputs["step"] = round.Step
	return append(parts, coder), inputs
}

// An examiner returns what is wrong with a cell that ran, or "".
type examiner func(context.Context, record.Attempt) (problem string, err error)

// try has a cell written, runs it in the session, and has it repaired while it fails, at
// most DebugTries times. first is the cell if it is written already. It adds each attempt to attempts; those already there count. It
// returns why no attempt was good, or "".
func (r *run) try(ctx context.Context, q ask.Request, first string,
	repair func(record.Attempt, string) ask.Request,
	attempts *[]record.Attempt, faults examiner) (problem string, err error) {
	subject := q.Subject
	for {
		n := record.CountTries(*attempts) + 1
		if n > 1 {
			last := record.LastTry(*attempts)
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
			code, err = ask.Role(ctx, r.Asker, q, reply.Code)
		}
		if unread, ok := errors.AsType[*reply.Error](err); ok {
			return unread.Error(), nil
		} else if err != nil {
			return "", err
		}
		if r.t.Method.Script {
			r.dirty = true // a fresh process for every script
		}
		if intact, err := r.restore(ctx); err != nil || !intact {
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

// repairWords words the request to repair a cell, or in the paper's method a script (Listing
// 56).
func (r *requests) repairWords(step int, text string, failed record.Attempt,
	report string) func() ([]prompts.Part, map[string]string) {
	return func() ([]prompts.Part, map[string]string) {
		debugger := prompts.Debugger{Number: step, Step: text, Code: failed.Code, Error: report,
			Script: r.t.Method.Script}
		parts, inputs := r.shared()
		if debugger.Script {
			parts, inputs = r.asPublished(sees{context: true})
		}
		inputs["step"], inputs["cell"], inputs["error"] = text, failed.Code, report
		return append(parts, debugger), inputs
	}
}

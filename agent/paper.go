package agent

import (
	"context"
	"errors"

	"dsstar/agent/ask"
	"dsstar/agent/record"
)

// paper is DS-STAR as published: Algorithm 1 with the requests of Appendix H. Every round writes
// the whole script again, and every script starts from scratch.
type paper struct{ *run }

// answer is Algorithm 1 from line 8 on.
func (r *paper) answer(ctx context.Context) error {
	if err := r.rounds(ctx, r.round); err != nil {
		return err
	}
	return r.finalize(ctx)
}

// calls counts planner, coder and verifier in each round, a router between rounds, a debugger in
// every other round, and the finalizer.
func (r *paper) calls(rounds int) int { return 4*rounds + rounds/2 }

// round is one turn of the loop (lines 13 to 28), which begins at the planner so that the first
// round is like every other.
func (r *paper) round(ctx context.Context) error {
	if edited := len(r.t.Rounds) > 0 && r.current().Verdict == nil; !edited {
		step, err := ask.Role(ctx, r.Asker, ask.Request{Role: "planner", Subject: r.subject(1),
			Words: r.planWords}, ask.Step)
		if err != nil {
			return err
		}
		if err := r.beginRound(step, ""); err != nil {
			return err
		}
		if done, err := r.implement(ctx); err != nil || !done {
			return err
		}
	}
	if err := r.verify(ctx); err != nil || r.t.Sufficient() || r.roundsLeft() <= 0 {
		return err
	}
	return r.route(ctx)
}

// implement has the script of the round's step written and repaired until it runs (lines 26 and
// 27). If no attempt runs, the step is dropped.
func (r *paper) implement(ctx context.Context) (done bool, err error) {
	round, step := r.current(), r.t.StepOf(len(r.t.Rounds)-1)
	repair := func(failed record.Attempt, report string) ask.Request {
		return ask.Request{Role: "debugger", Words: r.repairWords(step, round.Step, failed, report)}
	}
	problem, err := r.try(ctx, ask.Request{Role: "coder", Subject: r.subject(0), Words: r.codeWords},
		"", repair, &round.Attempts, nil)
	if err != nil || problem == "" {
		return err == nil, err
	}
	return false, r.drop(problem)
}

// verify lets the judge decide whether the plan suffices (line 13). A reply that cannot be read
// counts as No.
func (r *paper) verify(ctx context.Context) error {
	verdict, err := ask.Role(ctx, r.Asker, ask.Request{Role: "verifier", Subject: r.subject(0),
		Words: r.verifyWords}, ask.YesNo)
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		verdict = record.Verdict{Reason: "the judge gave no verdict that could be read"}
		err = r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	verdict.Unfinished = false // the paper has no such verdict
	r.current().Verdict = &verdict
	return r.observe(Event{Kind: Judged, Text: verdict.Reason})
}

// route decides how an insufficient plan continues (lines 17 to 23). Without a router (section 4.2,
// variant 2), or if its reply cannot be read, a step is added.
func (r *paper) route(ctx context.Context) error {
	var route record.Route
	var err error
	if !r.t.Method.NoRouter {
		route, err = ask.Role(ctx, r.Asker, ask.Request{Role: "router", Subject: r.subject(0),
			Words: r.routeWords}, ask.Route(r.t.Steps()))
	}
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		route, err = record.Route{}, r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	r.current().Route = &route
	return r.observe(Event{Kind: Routed, Text: route.Reason})
}

// finalize has the script written that prints the answer (section 4, finalizer). It is no error if
// none prints one: then the trajectory has no answer.
func (r *paper) finalize(ctx context.Context) error {
	if r.t.Steps() == 0 {
		return errNoStep
	}
	if err := r.finalGiven(ctx, mustPrint); err != nil {
		return err
	}
	q := ask.Request{Role: "finalizer", Subject: r.answerSubject(), Words: r.finalWords}
	repair := func(failed record.Attempt, report string) ask.Request {
		words := r.repairWords(r.t.Steps()+1, r.finalStep(), failed, report)
		return ask.Request{Role: "debugger", Words: words}
	}
	problem, err := r.try(ctx, q, "", repair, &r.t.Final.Attempts, mustPrint)
	if err != nil {
		return err
	}
	return r.finalized(problem)
}

func (r *paper) finalStep() string { return r.inForm(lastStep) }

// learnFrom does nothing: the paper has no memory.
func (r *paper) learnFrom(context.Context, *prover) error { return nil }

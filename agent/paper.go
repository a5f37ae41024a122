package agent

import (
	"context"
	"errors"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// paper is DS-STAR as published: Algorithm 1 with the requests of Appendix H. Every round writes
// the whole script again, and every script starts from scratch.
type paper struct{ *run }

// answer is Algorithm 1 from line 8 on.
func (r *paper) answer(ctx context.Context) error {
	if err := r.runAgain(ctx, nil); err != nil {
		return err
	}
	if r.unjudged() {
		if err := r.examine(ctx); err != nil {
			return err
		}
	}
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
	step, err := ask.Role(ctx, r.Asker, ask.Request{Role: "planner", Subject: r.nextSubject(),
		Words: r.planWords}, ask.Step)
	if err != nil {
		return err
	}
	if err := r.beginRound(step); err != nil {
		return err
	}
	if done, err := r.implement(ctx); err != nil || !done {
		return err
	}
	return r.examine(ctx)
}

// examine has the plan judged (line 13) and, if it does not suffice, a route chosen.
func (r *paper) examine(ctx context.Context) error {
	if err := r.verify(ctx); err != nil || r.t.Sufficient() || r.roundsLeft() <= 0 {
		return err
	}
	return r.decideRoute(ctx)
}

// implement has the script of the round's step written and repaired until it runs (lines 26 and
// 27). If no attempt runs, the step is dropped.
func (r *paper) implement(ctx context.Context) (done bool, err error) {
	round := r.t.Last()
	problem, err := r.carryOut(ctx, task{step: round.Place, text: round.Step, work: r.work, chain: r.chain,
		attempts: &round.Attempts, ask: ask.Request{Role: "coder", Subject: r.subject(), Words: r.codeWords},
		repair: func(failed record.Attempt, report string) []prompts.Part {
			return r.repairWords(round.Place, round.Step, failed, report)
		}})
	if err != nil || problem == "" {
		return err == nil, err
	}
	return false, r.drop(problem)
}

// verify lets the judge decide whether the plan suffices (line 13). A reply that cannot be read
// counts as No.
func (r *paper) verify(ctx context.Context) error {
	verdict, err := ask.Role(ctx, r.Asker, ask.Request{Role: "verifier", Subject: r.subject(),
		Words: r.verifyWords}, ask.YesNo)
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		verdict = record.Verdict{Reason: "the judge gave no verdict that could be read"}
		err = r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	verdict.Unfinished = false // the paper has no such verdict
	r.t.Last().Verdict = &verdict
	return r.observe(Event{Kind: Judged, Text: verdict.Reason})
}

// decideRoute decides how an insufficient plan continues (lines 17 to 23). Without a router (section 4.2,
// variant 2), or if its reply cannot be read, a step is added.
func (r *paper) decideRoute(ctx context.Context) error {
	var route record.Route
	var err error
	if !r.t.Method.NoRouter {
		route, err = ask.Role(ctx, r.Asker, ask.Request{Role: "router", Subject: r.subject(),
			Words: r.routeWords}, ask.Route(r.t.Steps()))
	}
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		route, err = record.Route{}, r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	return r.route(route.Back, route.Reason)
}

// finalize has the script written that prints the answer (section 4, finalizer). It is no error if
// none prints one: then the trajectory has no answer.
func (r *paper) finalize(ctx context.Context) error {
	if r.t.Steps() == 0 {
		return errNoStep
	}
	t := task{text: r.finalStep(), work: r.work, chain: r.chain, faults: mustPrint,
		ask: ask.Request{Role: "finalizer", Subject: r.answerSubject(), Words: r.finalWords},
		repair: func(failed record.Attempt, report string) []prompts.Part {
			return r.repairWords(r.t.Steps()+1, r.finalStep(), failed, report)
		}}
	if err := r.finalGiven(ctx, t); err != nil {
		return err
	}
	t.attempts = &r.t.Final.Attempts
	problem, err := r.carryOut(ctx, t)
	if err != nil {
		return err
	}
	return r.finalized(problem)
}

func (r *paper) finalStep() string { return r.inForm(lastStep) }

// learnFrom does nothing: the paper has no memory.
func (r *paper) learnFrom(context.Context, *prover) error { return nil }

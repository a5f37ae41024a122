package agent

import (
	"context"
	"errors"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// standard is dsstar's own method: one cell per step in a live session, which goes back with the
// plan.
type standard struct{ *run }

func (r *standard) answer(ctx context.Context) error {
	if err := r.rounds(ctx, r.round); err != nil {
		return err
	}
	return r.finalize(ctx)
}

func (r *standard) ready(ctx context.Context) (intact bool, err error) { return r.restore(ctx) }

// calls counts planner, coder and verifier in each round, a router between rounds, a debugger in
// every other round, finalizer and checker at the end, and with candidates one coder each and one
// more verifier.
func (r *standard) calls(rounds int) int {
	calls := 4*rounds + rounds/2 + 1
	if n := r.candidateCount(); n > 1 {
		calls += n * rounds
	}
	return calls
}

// round is one turn of the loop (Algorithm 1, lines 13 to 28). It begins at the planner so
// that the first round is like every other.
func (r *standard) round(ctx context.Context) error {
	if !r.underWay() {
		step, err := r.plan(ctx)
		if err != nil {
			return err
		}
		if err := r.beginRound(step); err != nil {
			return err
		}
	}
	if emptied, err := r.emptied(); emptied {
		return err
	}
	if r.unimplemented() {
		done, err := r.implement(ctx)
		if err != nil {
			return err
		}
		if !done {
			_, err := r.restore(ctx)
			return err
		}
	}
	if r.current().Verdict == nil {
		if err := r.verify(ctx); err != nil {
			return err
		}
	}
	if r.t.Sufficient() || r.left() <= 0 {
		return nil
	}
	return r.route(ctx)
}

// plan asks for the next step (Algorithm 1, lines 8 and 24). If the reply cannot be read,
// the error is a *[reply.Error].
func (r *standard) plan(ctx context.Context) (string, error) {
	return ask.Role(ctx, r.Asker, ask.Request{Role: "planner", Subject: r.subject(1),
		Words: r.planWords}, reply.Step)
}

func (r *standard) planWords() ([]prompts.Part, map[string]string) {
	parts, inputs := r.shared()
	if len(r.t.Rounds) == r.t.EarlierRounds() {
		return append(parts, prompts.PlannerFirst{}), inputs
	}
	next := prompts.PlannerNext{Missing: r.missing(), Dropped: r.dropped(), Done: len(r.t.Plan()) > 0}
	inputs["missing"] = next.Missing
	for i, d := range next.Dropped {
		if d.Reason == next.Missing {
			next.Dropped[i].Reason = "" // it stands above
		}
		inputs["dropped"] += strings.Join([]string{d.Text, d.Reason, ""}, "\n")
		inputs["results"] += "\n" + d.Output
	}
	return append(parts, next), inputs
}

// implement has the cell of the round's step written and repaired until it runs (Algorithm
// 1, lines 26 and 27). If no attempt runs, the step is dropped.
func (r *standard) implement(ctx context.Context) (done bool, err error) {
	round := r.current()
	step := r.t.StepOf(len(r.t.Rounds) - 1)
	repair := func(failed record.Attempt, report string) ask.Request {
		return ask.Request{Role: "debugger", Words: r.repairWords(step, round.Step, failed, report)}
	}
	problem, err := r.candidates(ctx)
	if err == nil && problem == "" {
		problem, err = r.try(ctx, ask.Request{Role: "coder", Subject: r.subject(0), Words: r.codeWords},
			repair, &round.Attempts, nil)
	}
	if err != nil || problem == "" {
		return err == nil, err
	}
	return false, r.drop(problem)
}

func (r *standard) codeWords() ([]prompts.Part, map[string]string) { return r.codeWordsFor(0) }

// codeWordsFor words the request for candidate n, from 2; 0 is the only cell, or the first.
func (r *standard) codeWordsFor(candidate int) ([]prompts.Part, map[string]string) {
	round := r.current()
	step := r.t.StepOf(len(r.t.Rounds) - 1)
	coder := prompts.Coder{Number: step, Step: round.Step, First: step == 1, Candidate: candidate}
	if r.t.Memory > 0 {
		coder.Memory = human.StableBytes(r.t.Memory)
	}
	parts, inputs := r.shared()
	inputs["step"] = round.Step
	return append(parts, coder), inputs
}

// repairWords words the request to repair a cell (Listing 56).
func (r *standard) repairWords(step int, text string, failed record.Attempt,
	report string) func() ([]prompts.Part, map[string]string) {
	return func() ([]prompts.Part, map[string]string) {
		parts, inputs := r.shared()
		inputs["step"], inputs["cell"], inputs["error"] = text, failed.Code, report
		return append(parts, prompts.Debugger{Number: step, Step: text, Code: failed.Code,
			Error: report}), inputs
	}
}

// verify lets the judge decide whether the plan suffices (Algorithm 1, line 13). A reply
// that cannot be read counts as insufficient.
func (r *standard) verify(ctx context.Context) error {
	verdict, err := ask.Role(ctx, r.Asker, ask.Request{Role: "verifier", Subject: r.subject(0),
		Words: r.verifyWords}, reply.Verdict)
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		verdict = record.Verdict{Reason: "the judge gave no verdict that could be read"}
		err = r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	if verdict.Reason == "" && !verdict.Sufficient {
		verdict.Reason = "the judge did not say what is missing"
	}
	r.current().Verdict = &verdict
	return r.observe(Event{Kind: Judged, Text: verdict.Reason})
}

// verifyWords words the request for a verdict on question, plan, code and results.
func (r *standard) verifyWords() ([]prompts.Part, map[string]string) {
	parts, inputs := r.shared()
	return append(parts, prompts.Verifier{}), inputs
}

// route decides how an insufficient plan continues (Algorithm 1, lines 17 to 23) and goes
// back if need be. If the reply cannot be read, a step is added, which drops nothing. The
// router is not asked if the judge found every step right: then a step is added.
func (r *standard) route(ctx context.Context) error {
	round := r.current()
	var route record.Route
	var err error
	if !round.Verdict.Unfinished {
		route, err = ask.Role(ctx, r.Asker, ask.Request{Role: "router", Subject: r.subject(0),
			Words: r.routeWords}, reply.Route(r.t.Steps()))
	}
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		route, err = record.Route{}, r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	if route.Back > 0 {
		r.dirty = true
		route.Reason = round.Verdict.Reason
	}
	round.Route = &route
	if err := r.observe(Event{Kind: Routed, Text: route.Reason}); err != nil {
		return err
	}
	_, err = r.restore(ctx)
	return err
}

func (r *standard) routeWords() ([]prompts.Part, map[string]string) {
	parts, inputs := r.shared()
	inputs["missing"] = r.missing()
	return append(parts, prompts.Router{Steps: r.t.Steps(), Missing: r.missing()}), inputs
}

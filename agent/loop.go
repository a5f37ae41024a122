package agent

import (
	"context"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// standard is dsstar's own method: one cell per step in a live session, which goes back with the
// plan.
type standard struct{ *run }

// answer runs rounds until the plan suffices, has the answer printed, computes it under the
// readings that are open, and derives it again. A mistake that comes to light then reopens the
// rounds, and so does a person who means another reading.
func (r *standard) answer(ctx context.Context) error {
	defer r.leaveApart()
	for {
		if err := r.rounds(ctx, r.round); err != nil {
			return err
		}
		if err := r.finalize(ctx); err != nil {
			return err
		}
		if r.t.Answer() == "" || !r.t.Sufficient() {
			return nil
		}
		if r.live() && !r.t.Method.NoSecond { // meanwhile, other branches run and models write cells
			r.apart.prepare(ctx)
		}
		if err := r.computeReadings(ctx); err != nil {
			return err
		}
		reopened, err := r.deriveAgain(ctx)
		if err != nil {
			return err
		}
		if !reopened {
			reopened, err = r.chooseReadings(ctx)
		}
		if err != nil || !reopened {
			return err
		}
	}
}

// leaveApart ends the session of the second derivation, in the background.
func (r *run) leaveApart() {
	apart := r.apart
	r.apart = &workspace{run: r, purpose: Second}
	r.ending.Go(apart.close)
}

// calls counts solver and judge in each round, a debugger in every other round, and the second
// derivation.
func (r *standard) calls(rounds int) int { return 2*rounds + rounds/2 + 1 }

// round is one turn of the loop: a step and its cell, then a verdict (after Algorithm 1, lines 13
// to 28). A person's edit is judged first.
func (r *standard) round(ctx context.Context) error {
	if edited := len(r.t.Rounds) > r.t.EarlierRounds() && r.current().Verdict == nil; edited {
		if r.t.Steps() == 0 {
			r.current().Verdict = &record.Verdict{Unfinished: true, Reason: "no step is left"}
			r.current().Route = &record.Route{}
			return r.observe(Event{Kind: Routed})
		}
		return r.judge(ctx)
	}
	if err := r.propose(ctx); err != nil {
		return err
	}
	if done, err := r.implement(ctx); err != nil || !done {
		return err
	}
	return r.judge(ctx)
}

// implement has the cell of the round's step written and repaired until it runs (Algorithm
// 1, lines 26 and 27). If no attempt runs, the step is dropped.
func (r *standard) implement(ctx context.Context) (done bool, err error) {
	round := r.current()
	step := r.t.StepOf(len(r.t.Rounds) - 1)
	repair := func(failed record.Attempt, report string) ask.Request {
		return ask.Request{Role: "debugger", Words: r.repairWords(step, round.Step, failed, report)}
	}
	q := ask.Request{Role: "coder", Subject: r.subject(0), Words: r.codeWords}
	problem, err := r.try(ctx, q, round.Proposed, repair, &round.Attempts, nil)
	if err != nil || problem == "" {
		return err == nil, err
	}
	return false, r.drop(problem)
}

func (r *standard) codeWords() []prompts.Part {
	round := r.current()
	step := r.t.StepOf(len(r.t.Rounds) - 1)
	coder := prompts.Coder{Number: step, Step: round.Step, First: step == 1}
	return append(r.shared(), coder)
}

// repairWords words the request to repair a cell (Listing 56).
func (r *standard) repairWords(step int, text string, failed record.Attempt,
	report string) func() []prompts.Part {
	return func() []prompts.Part {
		return append(r.shared(), prompts.Debugger{Number: step, Step: text, Code: failed.Code,
			Error: report})
	}
}

// settle puts the files of the run where those of its cells are, after branches, or if a killed run
// may have left others.
func (r *run) settle(ctx context.Context) error {
	if r.work.session == nil && !r.resumed && r.retraced == 0 {
		return nil
	}
	chain := r.chain("")
	whole := chain
	if last, ok := r.t.FinalCell(); ok {
		whole.Steps = append(slices.Clip(chain.Steps), last.Code)
	}
	if r.work.host == nil {
		chain = whole
	} else if !r.work.lost && beginsWith(whole.Cells(), r.work.at) {
		return nil // nothing of the user's is touched without need
	}
	_, err := r.work.enter(ctx, chain, false)
	return err
}

package agent

import (
	"context"
	"slices"

	"dsstar/agent/ask"
	"dsstar/prompts"
)

// answer is dsstar's own method: one cell per step in a live session, which goes back with the plan.
// It runs rounds until the plan suffices, has the answer printed, computes it under the
// readings that are open, and derives it again. A mistake that comes to light then reopens the
// rounds, and so does a person who means another reading.
func (r *run) answer(ctx context.Context) error {
	defer r.leaveApart()
	if err := r.begin(ctx, r.judge); err != nil {
		return err
	}
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
		if r.live() && !r.t.Method.NoSecond && !r.cfg.Alone { // meanwhile, other branches run and models write cells
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

// round is one turn of the loop: a step and its cell, then a verdict (after Algorithm 1, lines 13
// to 28).
func (r *run) round(ctx context.Context) error {
	code, err := r.propose(ctx)
	if err != nil {
		return err
	}
	if done, err := r.implement(ctx, code, nil, r.shared); err != nil || !done {
		return err
	}
	return r.judge(ctx)
}

// implement has the cell of the round's step written, unless it is, and repaired until it runs
// (Algorithm 1, lines 26 and 27). If no attempt runs, the step is dropped.
func (r *run) implement(ctx context.Context, code string,
	words, show func() []prompts.Part) (done bool, err error) {
	round := r.t.Last()
	problem, err := r.carryOut(ctx, task{step: round.Place, text: round.Step, code: code,
		work: r.work, chain: r.chain(), attempts: &round.Attempts,
		show: show, ask: ask.Request{Role: "coder", Subject: r.subject(), Words: words}})
	if err != nil || problem == "" {
		return err == nil, err
	}
	return false, r.drop(problem)
}

// settle puts the files of the run where those of its cells are, after branches, or if a killed run
// may have left others.
func (r *run) settle(ctx context.Context) error {
	if r.work.session == nil && !r.resumed && r.retraced == 0 {
		return nil
	}
	chain := r.chain()
	whole := chain
	if last, ok := r.t.FinalCell(); ok {
		whole.Steps = append(slices.Clip(chain.Steps), last.Code)
	}
	if r.work.host == nil {
		chain = whole
	} else if !r.work.lost && beginsWith(whole.Cells(), r.work.at) {
		return nil // nothing of the user's is touched without need
	}
	return r.work.enter(ctx, chain, false)
}

package agent

import (
	"context"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// standard is dsstar's own method: one cell per step in a live session, which goes back with the
// plan.
type standard struct{ *run }

// answer runs rounds until the plan suffices, has the answer printed, computes it under the
// readings that are open, and derives it again. A mistake that comes to light then reopens the
// rounds.
func (r *standard) answer(ctx context.Context) error {
	defer r.leaveApart()
	for {
		if r.t.Answer() == "" {
			if err := r.rounds(ctx, r.round); err != nil {
				return err
			}
			if err := r.finalize(ctx); err != nil {
				return err
			}
		}
		if r.settled() {
			return nil
		}
		r.openApart(ctx) // meanwhile, other branches run and models write cells
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
		if err != nil {
			return err
		}
		if !reopened {
			return r.leaveBranches(ctx)
		}
	}
}

// settled reports whether nothing but the proof is left to do: only the answer of a plan that
// suffices is derived again.
func (r *standard) settled() bool {
	switch {
	case !r.t.Sufficient() || r.t.Answer() == "":
		return true
	case len(r.pending()) > 0:
		return false
	case r.t.Proof == nil && r.cfg.ChooseReading != nil && len(r.t.OpenReadings()) > 0:
		return false // a person has not been asked
	}
	return r.t.Method.NoSecond || r.t.Second != nil && r.t.Second.Settled()
}

// leaveBranches puts the session back after branches, so that the files of the run are those of the
// notebook's cells; somebody else's session to the accepted cells.
func (r *standard) leaveBranches(ctx context.Context) (err error) {
	switch {
	case !r.dirty:
	case r.host != nil:
		_, err = r.restore(ctx)
	default:
		_, err = r.enter(ctx, r.t.Cells()) // a cell that no longer runs fails in the proof, too
	}
	return err
}

func (r *standard) ready(ctx context.Context) (intact bool, err error) { return r.restore(ctx) }

// calls counts solver and judge in each round, a debugger in every other round, and the second
// derivation.
func (r *standard) calls(rounds int) int { return 2*rounds + rounds/2 + 1 }

// round is one turn of the loop: a step and its cell, then a verdict (after Algorithm 1, lines 13
// to 28).
func (r *standard) round(ctx context.Context) error {
	if !r.underWay() {
		if err := r.propose(ctx); err != nil {
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
	return r.judgeOrGoOn(ctx)
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

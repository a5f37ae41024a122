package agent

import (
	"context"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
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

// asksReadings reports whether the next reply names the readings: that before the first step of a
// question does, also of a new plan, as the judge may have ruled out what the old one took. What a
// person has chosen stays.
func (r *run) asksReadings() bool {
	chosen := slices.ContainsFunc(r.t.Readings, func(x record.Reading) bool { return x.ByUser })
	return !r.t.Method.NoReadings &&
		(r.begins() || len(r.t.Plan()) == 0 && !chosen)
}

// begins reports whether nothing was done for the question yet, by a person or the run.
func (r *run) begins() bool { return r.t.Start == nil && len(r.t.Rounds) == 0 }

func (r *run) solveWords() []prompts.Part {
	next := prompts.Solver{Missing: r.missing(), Dropped: r.dropped(), Done: len(r.t.Plan()) > 0,
		First: r.begins(), Readings: r.asksReadings()}
	if !next.Readings {
		for _, p := range r.points(nil) {
			next.Points = append(next.Points, prompts.Point{Text: p.Text, Taken: p.Taken})
		}
	}
	known := r.t.Recalled
	if next.First && r.t.Earlier() == 0 && known != nil && known.Example != nil {
		next.Example = prompts.Example(*known.Example)
		next.Example.Cells = brief.Clip(next.Example.Cells, r.asker.Sizes().Result)
	}
	for i, d := range next.Dropped {
		if d.Reason == next.Missing {
			next.Dropped[i].Reason = "" // it stands above
		}
	}
	return append(r.shared(), next)
}

// propose begins a round with the next step, and returns its cell. With the first step, the readings are
// asked for. If the reply cannot be read, the error is a *[ask.Error].
func (r *run) propose(ctx context.Context) (code string, err error) {
	first := r.asksReadings()
	next, err := ask.Role(ctx, r.asker, ask.Request{Role: "solver", Subject: r.nextSubject(),
		Besides: r.t.Anew, Words: r.solveWords}, ask.Solutions(first))
	if err != nil {
		return "", err
	}
	if first {
		r.ground(next.Readings)
		r.t.Readings = next.Readings
	}
	return next.Code, r.beginRound(next.Step)
}

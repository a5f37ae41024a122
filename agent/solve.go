package agent

import (
	"context"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/prompts"
)

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

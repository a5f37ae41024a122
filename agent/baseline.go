package agent

import (
	"context"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A Baseline is a method of others, which benchmarks compare with ours. It asks, runs cells, is
// recorded and is resumed as ours are, but nobody proves its answer.
type Baseline struct {
	System prompts.Part // begins every request
	// Answer returns the answer, and whether the method ended by its own rule. It is called from the
	// beginning, also in a run that is resumed.
	Answer func(context.Context, *Desk) (answer string, finished bool, err error)
}

// A Desk is where a [Baseline] works. Each of its turns is a round of the record.
type Desk struct{ run *run }

// Asker returns what asks the model.
func (d *Desk) Asker() *ask.Asker { return d.run.asker }

// Run runs a cell in a turn of its own, on those that ran or raised before. One that was stopped, or
// ended the session, is undone, and with it what those that raised had done.
func (d *Desk) Run(ctx context.Context, said, code string) (notebook.Execution, error) {
	if err := d.run.beginRound(said); err != nil {
		return notebook.Execution{}, err
	}
	x, err := d.run.work.Run(ctx, d.run.chain(), cell{code: code})
	if err != nil {
		return x, err
	}
	round, stays := d.run.t.Last(), d.run.leaves(x)
	round.Attempts = []record.Attempt{{Code: code, Execution: x,
		Kept: stays && x.Status != notebook.OK}}
	for _, r := range d.run.t.Rounds {
		for i := range r.Attempts {
			r.Attempts[i].Kept = r.Attempts[i].Kept && stays
		}
	}
	return x, d.run.observe(Event{Kind: Ran, Try: 1, Execution: &x})
}

// Note notes a turn without a cell, and why it has none.
func (d *Desk) Note(said, why string) error {
	if err := d.run.beginRound(said); err != nil {
		return err
	}
	round := d.run.t.Last()
	round.Dropped, round.Verdict = round.Number, &record.Verdict{Unfinished: true, Reason: why}
	return d.run.observe(Event{Kind: Judged, Text: why})
}

func (d *Desk) answer(ctx context.Context) error {
	answer, finished, err := d.run.cfg.Baseline.Answer(ctx, d)
	if err != nil {
		return err
	}
	if last := d.run.t.Last(); last != nil {
		last.Verdict = &record.Verdict{Sufficient: finished, Reason: "it ended by its own rule"}
		if !finished {
			last.Verdict.Reason = "it was at its limit"
		}
	}
	d.run.t.Final = &record.Final{Derived: record.Derived{Answer: strings.TrimSpace(answer)}}
	return d.run.observe(Event{Kind: Finalized, Text: answer})
}

// leaves reports whether the session is where a cell has left it: what one of a baseline did stays
// also if it raised.
func (r *run) leaves(e notebook.Execution) bool {
	return e.Status == notebook.OK || r.cfg.Baseline != nil && e.Status == notebook.Raised
}

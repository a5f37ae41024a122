package agent

import (
	"context"
	"fmt"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/record"
)

// insists asks what becomes of a person's cell that would be dropped because a step is wrong; 0:
// none is. step is that of the cell, if it stays; meant says that the person has said why, in a
// note.
func (r *run) insists(ctx context.Context, wrong int, reason string) (step int, meant bool, err error) {
	if wrong == 0 {
		return 0, false, nil
	}
	step = r.t.Mine(wrong)
	if step == 0 {
		return 0, false, nil
	}
	note := fmt.Sprintf("The cell of step %d is meant as it is: %s", step, r.t.Accepted()[step-1].Step)
	if slices.Contains(r.t.Notes, note) {
		return step, false, nil
	}
	var person func(context.Context) (Decision, error)
	if r.cfg.Insist != nil {
		person = func(ctx context.Context) (d Decision, err error) {
			if d.Choice, err = r.cfg.Insist(ctx, step, reason); d.Choice == Accept {
				d.Note = note
			}
			return d, err
		}
	}
	d, _, err := r.decision(ctx, []any{"insist", r.t.Task.Question, note, reason}, person)
	switch {
	case err != nil:
		return step, false, err
	case d.Choice == Reject:
		return 0, false, nil
	case d.Choice == Accept:
		r.t.Decide(note)
		return step, true, nil
	}
	return step, false, nil
}

// rereads reports whether the next verdict names the readings anew, since a person has changed the
// cells that took them.
func (r *run) rereads() bool {
	return r.asLeft() && r.t.Start.Steps && !r.t.Method.NoReadings
}

// heed applies what a verdict says of the readings. Those that came with it take the place of others;
// what a person has chosen stays. A sufficient one says which options the cells take; words of the
// question settle a point only if the judge also finds that they decide it, those of a document unless
// the judge has been asked and finds that they do not. It can rule out what was inherited.
func (r *run) heed(said ask.Judgement) {
	anew := r.rereads()
	if len(said.Readings) > 0 {
		r.ground(said.Readings)
		all := slices.DeleteFunc(r.t.Readings, func(x record.Reading) bool { return !x.ByUser })
		for _, reading := range said.Readings {
			if !slices.ContainsFunc(all, func(x record.Reading) bool { return x.Point == reading.Point }) {
				all = append(all, reading)
			}
		}
		r.t.Readings = all
	}
	if !said.Sufficient {
		return
	}
	r.t.Corrects = said.Corrects
	r.proposed(said.Branches)
	var all []record.Reading
	told := len(said.Takes) == len(r.t.Readings)
	for i, reading := range r.t.Readings {
		reading.Confirmed = anew || told && said.Takes[i] == reading.Chosen+1
		ofAsker := reading.From == record.FromQuestion || reading.From == record.FromForm
		if !anew && (ofAsker || said.Decided != nil) && !slices.Contains(said.Decided, i+1) {
			reading.Settled = false
		}
		if !told || !reading.Inherited || said.Takes[i] > 0 {
			all = append(all, reading)
		}
	}
	r.t.Readings = all
}

// inherit adds what earlier questions leave open to the readings, for the judge to rule in or out.
// An answer that builds on such a question depends on its readings anyway.
func (r *run) inherit(ctx context.Context) error {
	hasReadings := func(q *record.Question) bool { return len(q.Readings) > 0 }
	if !slices.ContainsFunc(r.t.Questions[:r.t.Earlier()], hasReadings) {
		return nil
	}
	apart, err := r.apartFrom(ctx, r.t.OwnCells())
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(slices.Clone(r.t.Readings), func(x record.Reading) bool { return x.Inherited && !x.ByUser })
	for _, k := range apart[0] {
		for _, open := range r.t.Questions[k].Readings {
			named := func(x record.Reading) bool { return x.Point == open.Point }
			if !open.Open() || open.Computed() && !open.Matters() ||
				open.Problem != "" || open.Together != nil || slices.ContainsFunc(all, named) {
				continue
			}
			reading := record.Reading{Point: open.Point, Chosen: open.Chosen, Inherited: true}
			for _, o := range open.Options {
				reading.Options = append(reading.Options, record.Option{Text: o.Text})
			}
			all = append(all, reading)
		}
	}
	r.t.Readings = all
	return nil
}

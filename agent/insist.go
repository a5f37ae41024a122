package agent

import (
	"context"
	"fmt"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/prompts"
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
	note := fmt.Sprintf("The cell of step %d is meant as it is: %s", step, r.t.StepTexts()[step-1])
	if slices.Contains(r.t.Notes, note) {
		return step, false, nil
	}
	var person func(context.Context) (record.Decision, error)
	if r.cfg.Insist != nil {
		person = func(ctx context.Context) (d record.Decision, err error) {
			choice, err := r.cfg.Insist(ctx, step, reason)
			if d.Choice = string(choice); choice == Accept {
				d.Note = note
			}
			return d, err
		}
	}
	d, _, err := r.decision(ctx, []any{"insist", r.t.Task.Question, note, reason}, person)
	switch {
	case err != nil:
		return step, false, err
	case d.Choice == string(Reject):
		return 0, false, nil
	case d.Choice == string(Accept):
		r.t.Decide(note)
		return step, true, nil
	}
	return step, false, nil
}

// byPerson returns the steps whose cells a person wrote or changed.
func (r *run) byPerson() (all []prompts.HandStep) {
	for n, round := range r.t.Accepted() {
		if round.ByHand {
			all = append(all, prompts.HandStep{Number: n + 1, Was: round.Was})
		}
	}
	return all
}

// rereads reports whether the next verdict names the readings anew, since a person has changed the
// cells that took them.
func (r *run) rereads() bool {
	return r.asLeft() && r.t.Start.Steps && !r.t.Method.NoReadings
}

// judged returns the options whose cells are asked for with a verdict: not of readings that come
// with it.
func (r *run) judged() []optionOf {
	if r.rereads() {
		return nil
	}
	return r.unwritten()
}

// weighed returns how many readings a verdict speaks of: none if it names them itself.
func (r *run) weighed() int {
	if r.rereads() {
		return 0
	}
	return len(r.t.Readings)
}

// weighable returns the readings with the options whose cells are asked for.
func (r *run) weighable(asked []optionOf) (all []prompts.WeighedPoint) {
	for i, open := range r.points(asked) {
		reading, point := r.t.Readings[i], prompts.WeighedPoint{OpenPoint: open}
		if reading.Problem == "" {
			point.Option = reading.Chosen + 1
		}
		if point.Earlier = reading.Inherited; reading.Settled {
			point.Quoted = reading.Evidence
		}
		all = append(all, point)
	}
	return all
}

// weigh applies what a sufficient verdict says of the readings. Words of the question settle a point
// only if the judge also finds that they decide it. Words of a document settle it unless the judge
// has been asked and finds that they do not.
func (r *run) weigh(said ask.Judgement) {
	if !said.Sufficient {
		return
	}
	for i := range r.t.Readings {
		reading := &r.t.Readings[i]
		reading.Confirmed = r.rereads() ||
			len(said.Takes) == len(r.t.Readings) && said.Takes[i] == reading.Chosen+1
		ofAsker := reading.From == record.FromQuestion || reading.From == record.FromForm
		if !r.rereads() && (ofAsker || said.Decided != nil) && !slices.Contains(said.Decided, i+1) {
			reading.Settled = false
		}
	}
}

// readAnew takes the readings that came with a verdict. What a person has chosen stays.
func (r *run) readAnew(said []record.Reading) {
	if len(said) == 0 {
		return
	}
	r.ground(said)
	all := slices.DeleteFunc(r.t.Readings, func(x record.Reading) bool { return !x.ByUser })
	for _, reading := range said {
		if !slices.ContainsFunc(all, func(x record.Reading) bool { return x.Point == reading.Point }) {
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

// ruleOut drops the inherited readings of which a verdict says that they are none of this question.
func (r *run) ruleOut(said ask.Judgement) {
	if !said.Sufficient || len(said.Takes) != len(r.t.Readings) {
		return
	}
	var all []record.Reading
	for i, reading := range r.t.Readings {
		if !reading.Inherited || said.Takes[i] > 0 {
			all = append(all, reading)
		}
	}
	r.t.Readings = all
}

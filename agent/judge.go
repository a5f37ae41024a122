package agent

import (
	"context"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// judge lets the judge decide whether the plan suffices. One reply holds the verdict, the step that
// is wrong if one is, and the last cell of a plan that suffices. A reply that cannot be read counts
// as unfinished, which drops nothing.
func (r *run) judge(ctx context.Context) error {
	if r.t.Start != nil {
		r.ground(r.t.Readings) // files and notes can be other ones than before
	}
	said, err := r.verdict(ctx)
	if err != nil {
		return err
	}
	round := r.t.Last()
	round.Verdict, round.Answer = &said.Verdict, said.Code
	round.Verdict.Disputes = r.t.Mine(said.Wrong) // a cell of a person's stays
	r.heed(said)
	if err := r.observe(Event{Kind: Judged, Text: said.Reason}); err != nil {
		return err
	}
	if said.Sufficient || r.t.Judged().Disputes > 0 || r.roundsLeft() <= 0 {
		return nil
	}
	return r.route(said.Wrong, said.Reason)
}

// verdict asks for a verdict.
func (r *run) verdict(ctx context.Context) (said ask.Judgement, err error) {
	if err := r.inherit(ctx); err != nil {
		return said, err
	}
	written, err := look(ctx, r.work, "sight", r.chain(), "written", r.work.written)
	if err != nil {
		return said, err
	}
	points, due := len(r.t.Readings), r.unwritten()
	if r.rereads() { // it names the readings, and theirs come later
		points, due = 0, nil
	}
	said, err = ask.Role(ctx, r.asker, ask.Request{Role: "judge", Subject: r.subject(),
		Besides: r.t.Anew, Words: func() []prompts.Part { return r.judgeWords(written, due) },
	}, ask.Judgements(r.t.Steps(), points, due, r.rereads(), r.t.Earlier()))
	unread, err := r.unread(err)
	if unread {
		said.Verdict = record.Verdict{Unfinished: true, Reason: "the judge gave no verdict that could be read"}
	}
	if said.Reason == "" && !said.Sufficient {
		said.Reason = "the judge did not say what is missing"
	}
	return said, err
}

func (r *run) judgeWords(written string, due []ask.Branch) []prompts.Part {
	parts := r.shared()
	withoutMemory(parts) // as of the arbiter
	request := prompts.Judgement{Written: written, Follows: r.t.Earlier() > 0,
		Points: r.points(due), Branches: len(due) > 0,
		Guidelines: r.t.Task.Guidelines != "", Reread: r.rereads()}
	for n, round := range r.t.Accepted() {
		if round.ByHand {
			request.Hand = append(request.Hand, n+1)
		}
	}
	return append(parts, request)
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
	apart, err := r.apartFrom(ctx)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(slices.Clone(r.t.Readings), func(x record.Reading) bool { return x.Inherited && !x.ByUser })
	for _, k := range apart {
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

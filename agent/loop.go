package agent

import (
	"context"
	"errors"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/lists"
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
func (r *run) implement(ctx context.Context, code string, words, show func() []prompts.Part) (done bool, err error) {
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
	if last := r.t.FinalCell(); last.IsCell() {
		whole.Steps = append(slices.Clip(chain.Steps), last.Code)
	}
	if r.work.host == nil {
		chain = whole
	} else if !r.work.lost && lists.Begins(whole.Cells(), r.work.at) {
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
		next.Points = r.points(nil)
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
// asked for; a later one may add some. If the reply cannot be read, the error is a *[ask.Error].
func (r *run) propose(ctx context.Context) (code string, err error) {
	form := prompts.SolutionForm{Readings: r.asksReadings(), Late: !r.t.Method.NoReadings}
	next, err := ask.Role(ctx, r.asker, ask.Request{Role: "solver", Subject: r.nextSubject(),
		Besides: r.t.Anew, Words: r.solveWords}, ask.Solutions(form))
	if err != nil {
		return "", err
	}
	if form.Readings { // a new plan may take others
		r.ground(next.Readings)
		late := slices.DeleteFunc(r.t.Readings, func(x record.Reading) bool { return !x.Late })
		r.t.Readings, next.Readings = next.Readings, late
	}
	r.add(next.Readings, false)
	return next.Code, r.beginRound(next.Step)
}

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

const noVerdict = "the judge gave no verdict that could be read"

// verdict asks for a verdict. The error is a *[ask.Error] if the second one in a row cannot be read.
func (r *run) verdict(ctx context.Context) (said ask.Judgement, err error) {
	if err := r.inherit(ctx); err != nil {
		return said, err
	}
	written, err := look(ctx, r.work, "sight", r.chain(), "written", r.work.written)
	if err != nil {
		return said, err
	}
	form := prompts.JudgementForm{Readings: r.rereads(), Late: !r.t.Method.NoReadings}
	due := r.unwritten()
	if form.Readings { // their branches come later
		due = nil
	} else {
		quoted := func(x record.Reading) bool { return x.Settled || x.Decided() != "" }
		form.Points, form.Quoted = len(r.t.Readings) > 0, slices.ContainsFunc(r.t.Readings, quoted)
	}
	_, form.Warnings = r.counts()
	said, err = ask.Role(ctx, r.asker, ask.Request{Role: "judge", Subject: r.subject(),
		Besides: r.t.Anew, Words: func() []prompts.Part {
			parts := r.shared()
			withoutMemory(parts) // as of the arbiter
			rows, _ := r.counts()
			return append(parts, prompts.Judgement{Written: written, Rows: rows, Warned: form.Warnings > 0,
				Ignored: r.ignored(), Follows: r.t.Earlier() > 0,
				Points: r.points(due), Branches: len(due) > 0, Reread: r.rereads()})
		}}, ask.Judgements(form, r.t.Steps(), r.t.Earlier(), due))
	if _, unread := errors.AsType[*ask.Error](err); unread && r.missing() != noVerdict { // else the rounds end
		_, err = r.unread(err)
		said.Verdict = record.Verdict{Unfinished: true, Reason: noVerdict}
	}
	if said.Reason == "" && !said.Sufficient {
		said.Reason = "the judge did not say what is missing"
	}
	return said, err
}

// rereads reports whether the next verdict names the readings anew, since a person has changed the
// cells that took them.
func (r *run) rereads() bool {
	return r.asLeft() && r.t.Start.Steps && !r.t.Method.NoReadings
}

// heed applies what a verdict says of the readings. Those that came with it are added, or if it is asked to
// name them anew take the place of others; what a person has chosen stays.
func (r *run) heed(said ask.Judgement) {
	anew := r.rereads()
	if anew && len(said.Readings) > 0 {
		r.t.Readings = slices.DeleteFunc(r.t.Readings, func(x record.Reading) bool { return !x.ByUser })
	}
	r.decide(said.Printed)
	if said.Sufficient {
		r.t.Corrects = said.Corrects
		r.proposed(said.Branches)
		r.weigh(said, anew)
	}
	r.add(said.Readings, true)
}

// weigh applies what a sufficient verdict says of readings: which options the cells take, without which no
// output decides; words of the question settle a point only if the judge also finds that they decide it, those
// of a document, and outputs, unless the judge has been asked and finds that they do not. It can rule out what
// was inherited. If it is asked to name the readings anew and names none, an open one stays, and the cells may
// take another option of it; nothing is said any more of a settled one.
func (r *run) weigh(said ask.Judgement, anew bool) {
	var all []record.Reading
	told := len(said.Takes) == len(r.t.Readings) || len(said.Takes) == len(r.t.Readings)+len(said.Readings)
	for i, reading := range r.t.Readings {
		unnamed := anew && len(said.Readings) == 0 && !reading.ByUser
		reading.Confirmed = anew && !unnamed || told && said.Takes[i] == reading.Chosen+1
		ofAsker := reading.From == record.FromQuestion || reading.From == record.FromForm
		denied := !anew && !slices.Contains(said.Decided, i+1)
		if denied && (ofAsker || said.Decided != nil) {
			reading.Settled = false
		}
		now := func(p ask.Printed) bool { return p.Point == i+1 }
		if !reading.Confirmed || denied && said.Decided != nil && !slices.ContainsFunc(said.Printed, now) {
			reading.Undecide()
		}
		ruledOut := told && reading.Inherited && said.Takes[i] == 0 || unnamed && reading.Settled
		if !ruledOut {
			all = append(all, reading)
		}
	}
	r.t.Readings = all
}

// add adds readings that came after the others. One that there is only opens what outputs decide of it. What
// several points give together is computed anew.
func (r *run) add(late []record.Reading, confirmed bool) {
	r.ground(late)
	for _, one := range late {
		several := func(x record.Reading) bool { return x.Together != nil }
		alone := slices.DeleteFunc(slices.Clone(r.t.Readings), several)
		known := func(x record.Reading) bool { return x.Point == one.Point }
		if i := slices.IndexFunc(alone, known); i < 0 {
			one.Late, one.Confirmed, one.Options = true, confirmed, slices.Clone(one.Options)
			r.t.Readings = append(alone, one)
		} else if alone[i].Decided() != "" {
			alone[i].Undecide()
			r.t.Readings = alone
		}
	}
}

// decide takes what outputs decide, as the judge finds, provided that they have what it quotes. An option with
// a cell is computed all the same; a person's choice and what an earlier question leaves open stay.
func (r *run) decide(all []ask.Printed) {
	for _, p := range all {
		for i, reading := range r.t.Readings {
			for n := range reading.Options {
				other := p.Point == i+1 && (p.Option == 0 || p.Option == n+1) && n != reading.Chosen
				if other && !reading.ByUser && !reading.Inherited {
					reading.Options[n].Decided = r.outputWith(p.Quote)
				}
			}
		}
	}
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
			all = append(all, record.Reading{Point: open.Point, Chosen: open.Chosen, Inherited: true,
				Options: lists.Map(open.Options, record.Option.Anew)})
		}
	}
	r.t.Readings = all
	return nil
}

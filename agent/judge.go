package agent

import (
	"context"
	"errors"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// judge lets the judge decide whether the plan suffices. One reply holds the verdict, the step that
// is wrong if one is, and the last cell of a plan that suffices. A reply that cannot be read counts
// as unfinished, which drops nothing.
func (r *standard) judge(ctx context.Context) error { return r.judgeAbout(ctx, r.subject(0)) }

func (r *standard) judgeAbout(ctx context.Context, subject string) error {
	if r.t.LastEdit() != nil {
		r.ground(r.t.Readings) // files and notes can be other ones than before
	}
	r.inherit()
	form := ask.Judgements(r.t.Steps(), r.weighed(), branchesOf(r.judged()), r.rereads())
	said, err := ask.Role(ctx, r.Asker, ask.Request{Role: "judge", Subject: subject, Words: r.judgeWords,
		Images: r.pictures()}, form)
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		said.Verdict = record.Verdict{Unfinished: true,
			Reason: "the judge gave no verdict that could be read"}
		err = r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	if said.Reason == "" && !said.Sufficient {
		said.Reason = "the judge did not say what is missing"
	}
	step, meant, err := r.insists(ctx, said.Wrong, said.Reason)
	if err != nil {
		return err
	}
	if meant {
		return r.judgeAbout(ctx, subject+", as it is meant")
	}
	r.readAnew(said.Readings)
	r.weigh(said)
	round := r.current()
	round.Verdict, round.Answer = &said.Verdict, said.Code
	round.Verdict.Disputes = step
	r.proposed(said.Branches)
	r.ruleOut(said)
	if !said.Sufficient && step == 0 && r.left() > 0 {
		round.Route = &record.Route{Back: said.Wrong, Reason: said.Reason}
	}
	if err := r.observe(Event{Kind: Judged, Text: said.Reason}); err != nil || round.Route == nil {
		return err
	}
	return r.follow(ctx)
}

func (r *standard) judgeWords() []prompts.Part {
	parts := r.results()
	forget(parts) // as of the arbiter
	var names []string
	for _, p := range r.pictures() {
		names = append(names, brief.OneLine(p.Name))
	}
	branches := r.judged()
	request := prompts.Judgement{Written: r.written(), Pictures: strings.Join(names, "\n"),
		Points: r.weighable(branches), Guidelines: r.t.Task.Guidelines != "", Hand: r.byPerson(), Reread: r.rereads()}
	request.Branches = len(branches) > 0
	return append(parts, request)
}

// follow carries out the current round's route: it goes back if a step is wrong.
func (r *standard) follow(ctx context.Context) error {
	route := r.current().Route
	if route.Back > 0 {
		r.dirty = true
	}
	if err := r.observe(Event{Kind: Routed, Text: route.Reason}); err != nil {
		return err
	}
	_, err := r.restore(ctx)
	return err
}

// judgeOrGoOn ends a round: it has the plan judged, or goes on after a verdict that had no route,
// since no rounds were left.
func (r *standard) judgeOrGoOn(ctx context.Context) error {
	round := r.current()
	switch {
	case round.Verdict == nil:
		return r.judge(ctx)
	case r.t.Sufficient() || r.left() <= 0:
		return nil
	}
	round.Route = &record.Route{Reason: round.Verdict.Reason}
	return r.follow(ctx)
}

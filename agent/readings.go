package agent

import (
	"context"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/journal"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook/compare"
	"dsstar/prompts"
)

// computeReadings computes the answer under each option that is not taken, and then what that leaves
// in doubt. The cells of the options run as branches. They came with the verdict; one request asks
// for those that did not.
func (r *run) computeReadings(ctx context.Context) error {
	for range 2 {
		r.combine()
		if err := r.proposeBranches(ctx); err != nil {
			return err
		}
		for _, p := range r.pending() {
			option := r.option(p)
			if err := r.computeOption(ctx, p, option); err != nil {
				return err
			}
			if err := r.observe(Event{Kind: Read, Branch: p.String(), Text: option.Answer}); err != nil {
				return err
			}
		}
	}
	return nil
}

// combine adds a reading that takes another option at every open point, if none of these changes
// anything alone.
func (r *run) combine() {
	if len(r.others()) > 0 {
		return
	}
	var open []int
	var points, taken, others []string
	for i, reading := range r.t.Readings {
		if reading.Together != nil || reading.Open() && reading.Matters() {
			return
		}
		if reading.Open() {
			open, points = append(open, i), append(points, reading.Point)
			taken = append(taken, reading.Options[reading.Chosen].Text)
			others = append(others, reading.Options[reading.Other()].Text)
		}
	}
	if len(open) > 1 {
		r.t.Readings = append(r.t.Readings, record.Reading{Together: open,
			Point:   "These points together: " + strings.Join(points, " "),
			Options: []record.Option{{Text: strings.Join(taken, "; ")}, {Text: strings.Join(others, "; ")}}})
	}
}

// proposeBranches asks for the cells of the pending options that have none. Those of settled points
// alone are not worth a request.
func (r *run) proposeBranches(ctx context.Context) error {
	asked, doubts := r.unwritten(), ""
	if len(r.unsure()) > 0 {
		doubts = ", what is in doubt"
	}
	if slices.ContainsFunc(asked, func(p optionOf) bool {
		reading := r.t.Readings[p.reading]
		return reading.Open() || p.option == reading.Chosen
	}) {
		cells, err := ask.Role(ctx, r.Asker, ask.Request{Role: "branches",
			Subject: "the readings" + doubts + r.sinceRuling(), Words: r.branchWords},
			ask.Branches(branchesOf(asked), r.t.Steps()))
		unread, err := r.unread(err)
		if unread {
			cells = nil
		}
		if err != nil {
			return err
		}
		r.proposed(cells)
	}
	for _, p := range r.unwritten() {
		r.option(p).Problem = "the model wrote no cell for it"
		r.doubt(p)
	}
	return nil
}

// doubt reopens a point if the option that should show what the cells take has no answer.
func (r *run) doubt(p optionOf) {
	reading := &r.t.Readings[p.reading]
	reading.Settled = reading.Settled && p.option != reading.Chosen
}

// proposed takes the cells of branches, for options that have none.
func (r *run) proposed(cells []ask.Branch) {
	for _, p := range r.unwritten() {
		for _, c := range cells {
			if c.Point == p.reading+1 && c.Option == p.option+1 {
				o := r.option(p)
				if o.Proposed = c.Code; p.option != r.t.Readings[p.reading].Chosen {
					o.Steps = c.Steps
				}
			}
		}
	}
}

// unwritten returns the pending options that have no cell.
func (r *run) unwritten() []optionOf {
	return slices.DeleteFunc(r.pending(), func(p optionOf) bool {
		return r.option(p).Proposed != ""
	})
}

func (r *run) option(p optionOf) *record.Option {
	return &r.t.Readings[p.reading].Options[p.option]
}

// pending returns the options that are to be computed: those not taken, and then those in doubt. That
// the data hold no answer may hang on a reading, too.
func (r *run) pending() []optionOf {
	if all := r.others(); len(all) > 0 {
		return all
	}
	return r.unsure()
}

// others returns the options not taken that are to be computed.
func (r *run) others() []optionOf {
	return r.uncomputed(func(reading record.Reading, option int) bool {
		return reading.Together == nil && option != reading.Chosen
	})
}

// unsure returns the options that are computed once the others are: all other options together, and
// the one that is taken where another gives the same answer and the judge has not found which one
// the cells take.
func (r *run) unsure() []optionOf {
	if len(r.t.OpenReadings()) > 0 {
		return nil // the answer depends on a reading anyway
	}
	return r.uncomputed(func(reading record.Reading, option int) bool {
		if reading.Together != nil {
			return option != reading.Chosen
		}
		alike := slices.ContainsFunc(reading.Options, func(o record.Option) bool { return o.Same })
		return option == reading.Chosen && alike && !reading.Confirmed
	})
}

// uncomputed returns the options without an answer, of readings that nobody has chosen, which are
// asked for.
func (r *run) uncomputed(asked func(record.Reading, int) bool) (all []optionOf) {
	for i, reading := range r.t.Readings {
		for n, o := range reading.Options {
			if !reading.ByUser && o.Answer == "" && o.Problem == "" && asked(reading, n) {
				all = append(all, optionOf{i, n})
			}
		}
	}
	return all
}

// branchesOf returns options whose cells are asked for as the reply is to number them.
func branchesOf(asked []optionOf) (all []ask.Branch) {
	for _, p := range asked {
		all = append(all, ask.Branch{Point: p.reading + 1, Option: p.option + 1})
	}
	return all
}

// computeOption runs the cell of an option's branch.
func (r *run) computeOption(ctx context.Context, p optionOf, o *record.Option) error {
	kind := lineage.Branch
	if p.option == r.t.Readings[p.reading].Chosen {
		kind = lineage.Second // it is to compute what the cells compute, but from the data
	}
	gave, err := r.runBranch(ctx, branch{name: p.String(), kind: kind, code: o.Proposed,
		text: "Compute the answer under another reading of the question: " + o.Text,
		work: r.work, base: r.kept(o.Steps), show: r.shared})
	o.Proposed, o.Attempts, o.Answer, o.Files = "", gave.attempts, gave.answer, gave.files
	if err != nil {
		return err
	}
	if o.Answer == "" {
		o.Problem = unableBecause(gave.problem)
		return nil
	}
	found := compare.Answers(r.firstAnswer(), optionAnswer(*o), asked(r.t))
	o.Same, o.Differs = found.Sameness == compare.Same, found.Why
	reading := &r.t.Readings[p.reading]
	if p.option == reading.Chosen && !o.Same { // the cells take another one, which gives their answer
		reading.Chosen = slices.IndexFunc(reading.Options, func(o record.Option) bool { return o.Same })
		reading.Settled = false
	}
	return nil
}

func (r *run) branchWords() []prompts.Part {
	last, _ := r.t.FinalCell()
	request := prompts.Branches{Code: last.Code, Points: r.points(r.unwritten())}
	for _, p := range r.unwritten() {
		request.Anew = request.Anew || p.option == r.t.Readings[p.reading].Chosen
	}
	request.Points = slices.DeleteFunc(request.Points, func(p prompts.OpenPoint) bool {
		return len(p.Others) == 0
	})
	return append(r.shared(), request)
}

// points returns the readings with the options that the cells take, and the others whose cells are
// asked for.
func (r *run) points(asked []optionOf) (all []prompts.OpenPoint) {
	for i, point := range r.taken() {
		all = append(all, prompts.OpenPoint{Number: i + 1, Text: point.Text, Taken: point.Taken})
	}
	for _, p := range asked {
		all[p.reading].Others = append(all[p.reading].Others,
			prompts.Option{Number: p.option + 1, Text: r.option(p).Text})
	}
	return all
}

// taken returns the readings with the options that the cells take.
func (r *run) taken() (all []prompts.Point) {
	for _, reading := range r.t.Readings {
		point := prompts.Point{Text: reading.Point, Taken: "not said"}
		if reading.Problem == "" {
			point.Taken = reading.Options[reading.Chosen].Text
		}
		all = append(all, point)
	}
	return all
}

// chooseReadings asks a person which option of each open reading that changes the answer is meant,
// and reports whether the answer is another one then.
func (r *run) chooseReadings(ctx context.Context) (changed bool, err error) {
	for i, reading := range r.t.Readings {
		if !reading.Open() || !reading.Matters() || reading.Problem != "" {
			continue
		}
		var person func(context.Context) (record.Decision, error)
		if r.cfg.ChooseReading != nil {
			person = func(ctx context.Context) (record.Decision, error) {
				n, err := r.cfg.ChooseReading(ctx, reading, r.t.Answer())
				return record.ChoiceOf(reading, n), err
			}
		}
		d, known, err := r.decision(ctx, record.MeantOf(r.t.Question, i), person)
		if err != nil {
			return false, err
		}
		if !known || d.Option < 0 || d.Option >= len(reading.Options) || !meant(r.t, i, d.Option) {
			continue // it stays open, or as it is
		}
		e := Event{Kind: Routed, Text: r.t.Last().Step}
		if r.t.Last().Route == nil { // its branch had the answer
			e.Kind = Repeated
		}
		return true, r.observe(e)
	}
	return false, nil
}

// Choose records that a person means option n of reading i of question k, from 0. A resumed run takes
// it from there: if the option's branch has computed its answer, the branch's cells become the
// accepted ones, and nothing is asked to compute it anew. The questions after it begin again.
func Choose(t *record.Trajectory, k, i, n int) error {
	if t.Journal == nil {
		t.Journal = &journal.Journal{}
	}
	q := t.Questions[k]
	if err := journal.Put(t.Journal, record.Decided, record.MeantOf(q, i), record.ChoiceOf(q.Readings[i], n)); err != nil {
		return err
	}
	t.Changed(k)
	return nil
}

// meant takes option n of reading i, which a person means, and notes it. It reports whether the answer is
// another one then. If the option's branch has computed that, its cells become the accepted ones.
// Otherwise the steps that it does not keep are dropped.
func meant(t *record.Trajectory, i, n int) (changed bool) {
	option, taken, second := t.Readings[i].Options[n], t.Readings[i].Chosen, t.Second
	for _, k := range t.Readings[i].Together {
		of := &t.Readings[k]
		if of.ByUser = true; n != taken {
			of.Chosen = of.Other()
		}
	}
	t.Readings[i].ByUser, t.Readings[i].Chosen = true, n
	note := t.Readings[i].Chose()
	t.Decide(note)
	if n == taken {
		return false
	}
	before := t.Readings[i]
	before.Options = slices.Clone(before.Options)
	if before.Options[taken].Answer = t.Answer(); t.Final != nil {
		before.Options[taken].Files = t.Final.Files
	}
	code, computed := option.Last()
	keeps := min(option.Steps, t.Steps())
	if !computed {
		keeps = min(keeps, t.Steps()-1)
	}
	t.Unsettle()
	t.Final = nil
	t.Last().Verdict = &record.Verdict{Reason: note, Unfinished: keeps == t.Steps()}
	back := 0
	if keeps < t.Steps() {
		back = keeps + 1
	}
	t.Take(record.Route{Back: back, Reason: note})
	if computed {
		keepOthers(t, before, option)
		round := t.Begin(note)
		round.Attempts, round.Answer = option.Attempts, code
		round.Verdict = &record.Verdict{Sufficient: true, Reason: "It computes the answer as it is meant."}
		if second != nil && derives(t, *second, option) {
			t.Second = &record.Second{Attempts: second.Attempts, Answer: second.Answer, Files: second.Files}
		}
	}
	return true
}

// keepOthers keeps what the options of a reading give that were not chosen.
func keepOthers(t *record.Trajectory, before record.Reading, chosen record.Option) {
	if before.Together != nil {
		return
	}
	at := slices.IndexFunc(t.Readings, func(x record.Reading) bool { return x.Point == before.Point })
	for k, o := range before.Options {
		if k != before.Chosen && o.Answer != "" {
			found := compare.Answers(optionAnswer(chosen), optionAnswer(o), asked(t))
			o.Same, o.Differs = found.Sameness == compare.Same, found.Why
			t.Readings[at].Options[k] = o
		}
	}
}

// derives reports whether a second derivation has found the answer of an option by itself.
func derives(t *record.Trajectory, s record.Second, o record.Option) bool {
	own := func(a record.Attempt) bool { return a.Code == o.Attempts[len(o.Attempts)-1].Code }
	return s.Ruling == record.RuledReading && !slices.ContainsFunc(s.Attempts, own) &&
		compare.Answers(secondAnswer(s), optionAnswer(o), asked(t)).Sameness == compare.Same
}

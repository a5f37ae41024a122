package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/journal"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook/compare"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// computeReadings computes the answer under each option that is not taken, and then what that leaves
// in doubt. The cells of the options run as branches. They came with the verdict; one request asks
// for those that did not.
func (r *run) computeReadings(ctx context.Context) error {
	for range 2 {
		r.dropTwins()
		r.combine()
		if err := r.proposeBranches(ctx); err != nil {
			return err
		}
		for _, p := range r.due() {
			option := r.option(p)
			if err := r.computeOption(ctx, p, option); err != nil {
				return err
			}
			if err := r.observe(Event{Kind: Read, Branch: nameOf(p), Text: option.Answer}); err != nil {
				return err
			}
		}
	}
	return nil
}

// due returns the options that are to be computed: those not taken; and then, if none of these
// changes the answer, all others together, and the one that is taken where another gives the same
// answer and the judge has not found which one the cells take. That the data hold no answer may hang
// on a reading, too. What a person has chosen needs nothing.
func (r *run) due() (others []ask.Branch) {
	var doubted []ask.Branch
	for i, reading := range r.t.Readings {
		alike := slices.ContainsFunc(reading.Options, func(o record.Option) bool { return o.Same })
		for n, o := range reading.Options {
			p, taken := ask.Branch{Point: i + 1, Option: n + 1}, n == reading.Chosen
			switch {
			case reading.ByUser || o.Answer != "" || o.Problem != "" || o.Decided != "":
			case !taken && reading.Together == nil:
				others = append(others, p)
			case !taken, reading.Together == nil && alike && !reading.Confirmed:
				doubted = append(doubted, p)
			}
		}
	}
	if len(others) > 0 || len(r.t.OpenReadings()) > 0 { // the answer depends on a reading anyway
		return others
	}
	return doubted
}

// unwritten returns the options that are due and have no cell.
func (r *run) unwritten() []ask.Branch {
	return slices.DeleteFunc(r.due(), func(p ask.Branch) bool { return r.option(p).Proposed != "" })
}

func (r *run) option(p ask.Branch) *record.Option {
	return &r.t.Readings[p.Point-1].Options[p.Option-1]
}

// isTaken reports whether the cells are said to take an option.
func (r *run) isTaken(p ask.Branch) bool { return r.t.Readings[p.Point-1].Chosen == p.Option-1 }

func nameOf(p ask.Branch) string { return fmt.Sprintf("reading %d, option %d", p.Point, p.Option) }

// combine adds a reading that takes another option at every open point, if none of these changes
// anything alone.
func (r *run) combine() {
	together := record.Reading{Options: make([]record.Option, 2)}
	var points, taken, others []string
	for i, reading := range r.t.Readings {
		switch {
		case reading.Together != nil || !reading.ByUser && !reading.Computed(),
			reading.Open() && reading.Matters():
			return
		case reading.Open() && reading.Options[reading.Other()].Decided == "":
			together.Together, points = append(together.Together, i), append(points, reading.Point)
			taken = append(taken, reading.Options[reading.Chosen].Text)
			others = append(others, reading.Options[reading.Other()].Text)
		}
	}
	if len(points) > 1 {
		together.Point = "These points together: " + strings.Join(points, " ")
		together.Options[0].Text, together.Options[1].Text = strings.Join(taken, "; "), strings.Join(others, "; ")
		r.t.Readings = append(r.t.Readings, together)
	}
}

// proposeBranches asks for the cells of the options that are due and have none. Those of settled
// points alone are not worth a request.
func (r *run) proposeBranches(ctx context.Context) error {
	asked, subject := r.unwritten(), "the readings"
	anew := slices.ContainsFunc(asked, r.isTaken)
	if anew || slices.ContainsFunc(asked, func(p ask.Branch) bool {
		return r.t.Readings[p.Point-1].Together != nil
	}) {
		subject += ", what is in doubt"
	}
	open := func(p ask.Branch) bool { return r.t.Readings[p.Point-1].Open() }
	if anew || slices.ContainsFunc(asked, open) {
		cells, err := ask.Role(ctx, r.asker, ask.Request{Role: "branches",
			Subject: subject + r.sinceRuling(), Words: func() []prompts.Part {
				request := prompts.Branches{Code: r.t.FinalCell().Code, Anew: anew}
				request.Points = slices.DeleteFunc(r.points(asked), func(p prompts.Point) bool {
					return len(p.Others) == 0
				})
				return append(r.shared(), request)
			}}, ask.Branches(asked, r.t.Steps()))
		if unread, err := r.unread(err); err != nil {
			return err
		} else if unread == "" {
			r.proposed(cells)
		}
	}
	for _, p := range r.unwritten() {
		r.option(p).Problem = "the model wrote no cell for it"
		if r.isTaken(p) { // it should have shown what the cells take
			r.t.Readings[p.Point-1].Settled = false
		}
	}
	return nil
}

// proposed takes the cells of branches.
func (r *run) proposed(cells []ask.Branch) {
	for _, c := range cells {
		o := r.option(c)
		if o.Proposed, o.Decided = c.Code, ""; !r.isTaken(c) {
			o.Steps = c.Steps
		}
	}
}

// computeOption runs the cell of an option's branch.
func (r *run) computeOption(ctx context.Context, p ask.Branch, o *record.Option) error {
	kind := lineage.Branch
	if r.isTaken(p) {
		kind = lineage.Second // it is to compute what the cells compute, but from the data
	}
	chain := r.chain()
	chain.Steps = chain.Steps[:min(o.Steps, len(chain.Steps))]
	gave, problem, err := r.runBranch(ctx, task{branch: nameOf(p), code: o.Proposed,
		text: "Compute the answer under another reading of the question: " + o.Text,
		work: r.work, chain: chain, show: r.shared}, kind)
	o.Proposed, o.Derived = "", gave
	if err != nil {
		return err
	}
	if o.Problem = problem; problem != "" {
		return nil
	}
	found := compare.Answers(r.t.Final.Compared(), o.Compared(), asked(r.t))
	o.Same, o.Differs = found.Sameness == compare.Same, found.Why
	if r.isTaken(p) && !o.Same { // the cells take another one, which gives their answer
		reading := &r.t.Readings[p.Point-1]
		reading.Chosen = slices.IndexFunc(reading.Options, func(o record.Option) bool { return o.Same })
		reading.Settled = false
	}
	return nil
}

// dropTwins drops late readings that are others in other words: they share most words, and under another option
// they give the same answer. Whoever named one may not have seen the others.
func (r *run) dropTwins() {
	words := func(x record.Reading) string {
		return strings.Join(append(lists.Map(x.Options, func(o record.Option) string { return o.Text }), x.Point), " ")
	}
	var kept []record.Reading
	for _, x := range r.t.Readings {
		alike := func(o record.Option) bool {
			other := x.Options[x.Other()]
			return o.Answer != "" && other.Answer != "" && o.Same == other.Same &&
				compare.Answers(o.Compared(), other.Compared(), asked(r.t)).Sameness == compare.Same
		}
		twin := func(y record.Reading) bool {
			return akin(words(x), words(y)) && slices.ContainsFunc(y.Options, alike)
		}
		if !x.Late || x.ByUser || len(x.Options) != 2 || !slices.ContainsFunc(kept, twin) {
			kept = append(kept, x)
		}
	}
	r.t.Readings = kept
}

// points returns the readings, with those of their options whose cells are asked for.
func (r *run) points(due []ask.Branch) (all []prompts.Point) {
	for i, reading := range r.t.Readings {
		p := prompts.Point{Number: i + 1, Text: reading.Point, Taken: "not said",
			Quoted: reading.Decided(), Earlier: reading.Inherited}
		if reading.Problem == "" {
			p.Option, p.Taken = reading.Chosen+1, reading.Options[reading.Chosen].Text
		}
		if reading.Settled {
			p.Quoted = reading.Evidence
		}
		for _, o := range due {
			if o.Point == p.Number {
				p.Others = append(p.Others, prompts.Option{Number: o.Option, Text: r.option(o).Text})
			}
		}
		all = append(all, p)
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
		var person func(context.Context) (Decision, error)
		if r.cfg.ChooseReading != nil {
			person = func(ctx context.Context) (Decision, error) {
				n, err := r.cfg.ChooseReading(ctx, reading, r.t.Answer())
				_, d := choice(r.t.Question, i, n)
				return d, err
			}
		}
		on, _ := choice(r.t.Question, i, -1)
		d, known, err := r.decision(ctx, on, person)
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

// choice is the decision that option n of reading i is meant, -1: that it stays open, and what it rests
// on: the words alone, whatever comes out.
func choice(q *record.Question, i, n int) (on []any, d Decision) {
	reading := q.Readings[i]
	options := lists.Map(reading.Options, func(o record.Option) any { return o.Text })
	on, d = append([]any{"reading", q.Text, reading.Point}, options...), Decision{Option: n}
	if n >= 0 && n < len(reading.Options) {
		reading.Chosen = n
		d.Note = reading.Chose()
	}
	return on, d
}

// Choose records that a person means option n of reading i of question k, from 0. A resumed run takes
// it from there: if the option's branch has computed its answer, the branch's cells become the
// accepted ones, and nothing is asked to compute it anew. The questions after it begin again.
func Choose(t *record.Trajectory, k, i, n int) error {
	q := t.Questions[k]
	on, d := choice(q, i, n)
	if err := journal.Put(t.Journal, record.Decided, on, d); err != nil {
		return err
	}
	t.Ended, t.Failure, q.Proof = false, "", nil
	if k < t.Earlier() {
		t.Proof = nil
		what := fmt.Sprintf("what question %d means was chosen", k+1)
		t.Restart(map[int]*record.Start{k + 1: t.Questions[k+1].Again(what)})
	}
	return nil
}

// meant takes option n of reading i, which a person means, and notes it. It reports whether the answer is
// another one then. If the option's branch has computed that, its cells become the accepted ones.
// Otherwise the steps that it does not keep are dropped.
func meant(t *record.Trajectory, i, n int) (changed bool) {
	option, taken := t.Readings[i].Options[n], t.Readings[i].Chosen
	for _, k := range t.Readings[i].Together {
		of := &t.Readings[k]
		if of.ByUser = true; n != taken {
			of.Chosen = of.Other()
		}
	}
	t.Readings[i].ByUser, t.Readings[i].Chosen = true, n
	note := t.Readings[i].Chose()
	t.AddNote(note, true)
	if n == taken {
		return false
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
		round := t.Begin(note)
		round.Attempts, round.Answer = option.Attempts, code
		round.Verdict = &record.Verdict{Sufficient: true, Reason: "It computes the answer as it is meant."}
	}
	return true
}

// runBranch runs the cell of a branch, which is of a kind, beside the accepted cells. It returns what
// that gave, or why there is no answer: see [answerOf].
func (r *run) runBranch(ctx context.Context, t task,
	kind lineage.Kind) (gave record.Derived, problem string, err error) {
	t.attempts, t.ask = &gave.Attempts, ask.Request{Subject: t.branch + r.sinceRuling()}
	t.faults = func(ctx context.Context, a record.Attempt) (string, error) {
		if answerOf(a) == "" {
			return "the cell gave no answer; its last line must be the expression `answer`", nil
		}
		found, err := r.trace(ctx, lineage.Query{Kind: kind, Cells: t.chain.Cells(), Code: a.Code,
			First: withoutSetUp(r.t.Cells())})
		gave.Doubts = found.Doubts
		return found.Problem, err
	}
	if problem, err = r.carryOut(ctx, t); err != nil || problem != "" {
		return gave, problem, err
	}
	last := gave.Attempts[len(gave.Attempts)-1]
	gave.Answer = answerOf(last)
	gave.Files, err = r.filesGiven(ctx, t.work, t.chain, last.Code, gave.Answer)
	return gave, "", err
}

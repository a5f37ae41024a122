package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook/compare"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// maxRulings bounds how often an arbiter may have a derivation changed.
const maxRulings = 2

// deriveAgain answers the question a second time from scratch, in a session apart, and settles a
// difference. If both agree, the answer is computed under the other option of a point on which the second
// says that it hangs. It reports whether the plan has changed, so that the rounds go on.
func (r *run) deriveAgain(ctx context.Context) (changed bool, err error) {
	if r.t.Method.NoSecond || r.t.Answer() == "" {
		return false, nil
	}
	r.t.Second = cmp.Or(r.t.Second, &record.Second{})
	s := r.t.Second
	s.Ruling = "" // on the first derivation, which has changed
	defer r.leaveApart()
	if s.Answer == "" {
		if err := r.derive(ctx); err != nil {
			return false, err
		}
	}
	for s.Answer != "" && s.Ruling == "" { // after a correction there is a new one
		found := compare.Answers(r.t.Final.Compared(), s.Compared(), asked(r.t))
		if s.Agrees, s.Differs = found.Sameness == compare.Same, found.Why; s.Agrees {
			break
		}
		if r.explained(s.Compared()) {
			s.Ruling, s.Reason = record.RuledReading, "it is the answer under another reading"
		} else if changed, err = r.arbitrate(ctx, s, found); err != nil || changed {
			return changed, err
		}
	}
	if err := r.observe(Event{Kind: Derived, Text: s.Reason}); err != nil || !s.Agrees {
		return false, err
	}
	r.add(s.Readings, true) // both take the option that the second says
	return false, r.computeReadings(ctx)
}

// explained reports whether an answer is that of another option of an open reading: then the two
// derivations differ by a reading that is reported anyway.
func (r *run) explained(answer compare.Answer) bool {
	gives := func(o record.Option) bool {
		return compare.Answers(answer, o.Compared(), asked(r.t)).Sameness == compare.Same
	}
	return slices.ContainsFunc(r.t.OpenReadings(), func(x record.Reading) bool {
		return slices.ContainsFunc(x.Options, gives)
	})
}

// derive asks for the cell of the second derivation, and the point on which it hangs, and runs it.
func (r *run) derive(ctx context.Context) error {
	s, form := r.t.Second, prompts.SolutionForm{Second: true, Late: !r.t.Method.NoReadings}
	said, err := ask.Role(ctx, r.asker, ask.Request{Role: "second", Subject: "the answer" + r.sinceRuling(),
		Words: func() []prompts.Part {
			second := prompts.Second{Follows: r.t.Earlier() > 0, Mistakes: s.Mistakes(), Late: form.Late}
			return append(r.unseen(), second)
		}}, ask.Solutions(form))
	if s.Reason, err = r.unread(err); s.Reason != "" || err != nil {
		return err
	}
	s.Readings = said.Readings[:min(1, len(said.Readings))]
	if said.Other != "" && s.Readings[0].Problem == "" {
		reading := &s.Readings[0]
		reading.Options = []record.Option{reading.Options[reading.Chosen], reading.Options[reading.Other()]}
		reading.Chosen, reading.Options[1].Proposed = 0, said.Other
	}
	b := task{branch: "second derivation", text: "Answer the question independently of the notebook", code: said.Code,
		work: r.apart, chain: unaided(r.elsewhere()), show: r.unseen}
	if s.Together = r.cfg.Alone; s.Together { // in the first's session
		b.work, b.chain = r.work, unaided(r.t)
	} else if !b.work.Known(b.chain, b.cell(b.code)) {
		err = b.work.open(ctx)
	}
	if s.Unable = err != nil && ctx.Err() == nil; s.Unable { // there is an answer all the same
		s.Reason = "no session could be opened for it: " + err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	gave, problem, err := r.runBranch(ctx, b, lineage.Second)
	s.Derived = gave
	if problem != "" {
		s.Reason = problem
	}
	return err
}

// sinceRuling tells requests after a ruling or a choice, which changed a derivation, from those before.
func (r *run) sinceRuling() string {
	n := len(lists.Where(r.t.Readings, func(x record.Reading) bool { return x.ByUser }))
	if r.t.Second != nil {
		n += len(r.t.Second.Rejected)
	}
	if n == 0 {
		return r.ofQuestion()
	}
	return fmt.Sprintf("%s, again %d", r.ofQuestion(), n)
}

// unseen is what requests of the second derivation begin with: question, files, earlier questions
// and a person's notes, but no step, cell or output of the first, and nothing of the memory, which
// may be wrong.
func (r *run) unseen() []prompts.Part {
	parts := []prompts.Part{r.context()}
	withoutMemory(parts)
	if r.t.Earlier() > 0 {
		earlier := r.answered()
		earlier.Apart = true
		parts = append(parts, earlier)
	}
	return r.withNotes(append(parts, r.question()))
}

// arbitrate has one request decide between two derivations that differ, and carries the ruling out.
// That they mean the same counts only where a program cannot exclude it.
func (r *run) arbitrate(ctx context.Context, s *record.Second, found compare.Finding) (changed bool, err error) {
	if len(s.Rejected) >= maxRulings {
		s.Ruling, s.Reason = record.RuledUndecided, "the derivations still differ after two corrections"
		return false, nil
	}
	ruling, err := ask.Role(ctx, r.asker, ask.Request{Role: "arbiter",
		Subject: "two answers" + r.sinceRuling(), Words: func() []prompts.Part {
			return r.arbiterWords(found)
		}}, ask.Rulings(r.t.Steps()))
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		ruling, err = ask.Ruling{Ruling: record.RuledUndecided, Reason: unread.Error()}, nil
	}
	if err != nil {
		return false, err
	}
	if ruling.Ruling == record.RuledSame && found.Sameness == compare.Different {
		ruling.Ruling = record.RuledUndecided
		ruling.Reason = "the answers cannot mean the same, as the arbiter says: " + found.Why
	}
	s.Ruling, s.Reason = ruling.Ruling, ruling.Reason
	switch ruling.Ruling {
	case record.RuledSame:
		s.Agrees = true
	case record.RuledReading:
		r.t.Readings = append(r.t.Readings, record.Reading{Point: ruling.Point, Options: []record.Option{
			{Text: ruling.Options[0]}, {Text: ruling.Options[1], Derived: s.Derived}}})
	case record.RuledFirst:
		mine := ""
		if step := r.t.Mine(ruling.Wrong); step > 0 {
			mine = fmt.Sprintf("your cell of step %d", step)
		} else if ruling.Wrong == 0 && r.t.Final.ByHand {
			mine = "your last cell"
		}
		if mine != "" {
			s.Ruling, s.Reason = record.RuledUndecided, mine+" stays: "+ruling.Reason
			break
		}
		s.Rejected = append(s.Rejected, record.Ruled{Ruling: ruling.Ruling, Reason: ruling.Reason,
			First: r.t.Answer(), Second: s.Answer})
		if err := r.observe(Event{Kind: Ruled, Text: ruling.Reason}); err != nil {
			return true, err
		}
		return true, r.takeBack(ruling.Reason, ruling.Wrong)
	case record.RuledSecond:
		if err := r.observe(Event{Kind: Ruled, Text: found.Why + ": " + ruling.Reason}); err != nil {
			return false, err
		}
		*s = record.Second{Rejected: append(s.Rejected, record.Ruled{Ruling: ruling.Ruling,
			Reason: r.withoutAnswer(ruling.Reason), First: r.t.Answer(), Second: s.Answer})}
		return false, r.derive(ctx)
	}
	return false, r.observe(Event{Kind: Ruled, Text: ruling.Reason})
}

// aWord matches a number with its marks, or a word.
var aWord = lazy.Regexp(`\pN+(?:[.,'’]\pN+)*|[\pL\pN_-]+`)

// withoutAnswer returns the reason of a ruling without the words of the first answer that stand
// neither in the question nor in its form: whoever derives the answer anew is not to know them.
func (r *run) withoutAnswer(reason string) string {
	unmarked := strings.NewReplacer(",", "", "'", "", "’", "")
	words := func(text string) map[string]bool { // an answer may have millions
		all := map[string]bool{}
		for _, word := range aWord().FindAllString(text, -1) {
			all[strings.ToLower(unmarked.Replace(word))] = true
		}
		return all
	}
	hidden, asked := words(r.t.Answer()), words(r.t.Task.Question+"\n"+r.t.Task.Guidelines)
	return aWord().ReplaceAllStringFunc(reason, func(word string) string {
		if bare := strings.ToLower(unmarked.Replace(word)); hidden[bare] && !asked[bare] {
			return "…"
		}
		return word
	})
}

// takeBack takes the answer back, for a reason, so that the rounds go on. The steps from wrong on
// are dropped; 0: none is.
func (r *run) takeBack(reason string, wrong int) error {
	second := r.t.Second // does not rest on the cells that change
	r.t.Unsettle()
	r.t.Final, r.t.Second = nil, second
	r.t.Last().Verdict = &record.Verdict{Reason: reason, Unfinished: wrong == 0}
	return r.route(wrong, reason)
}

func (r *run) arbiterWords(found compare.Finding) []prompts.Part {
	parts := r.shared()
	withoutMemory(parts) // the notebook has the source of the functions that it uses
	last := r.t.FinalCell()
	second := r.t.Second.Attempts[len(r.t.Second.Attempts)-1]
	show := r.asker.Sizes().Result
	told := func(words string, files []compare.File) string {
		for _, f := range files {
			if f.Text != "" {
				words += "\n\n" + f.Name + ":\n" + f.Text
			}
		}
		return brief.Clip(words, show)
	}
	rows, _ := r.counts()
	a := prompts.Arbiter{Points: r.points(nil), Code: last.Code, Answer: told(r.t.Answer(), r.t.Final.Files),
		SecondCode: second.Code, SecondOutput: brief.Clip(second.Execution.Stdout(), show),
		SecondAnswer: told(r.t.Second.Answer, r.t.Second.Files),
		Rows:         rows, Differs: found.Why, Excluded: found.Sameness == compare.Different}
	return append(parts, a)
}

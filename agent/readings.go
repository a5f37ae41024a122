package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// computeReadings computes the answer under each option, not taken, of the readings that are open.
// Their cells, which run as branches, came with the verdict; one request asks for those that did not.
func (r *standard) computeReadings(ctx context.Context) error {
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
	return nil
}

// proposeBranches asks for the cells of the pending options that have none.
func (r *standard) proposeBranches(ctx context.Context) error {
	asked := r.unwritten()
	if len(asked) == 0 {
		return nil
	}
	cells, err := ask.Role(ctx, r.Asker, ask.Request{Role: "branches",
		Subject: "the readings" + r.again(), Words: r.branchWords},
		reply.Branches(r.askedBranches(), r.t.Steps()))
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		cells, err = nil, r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	r.proposed(cells)
	for _, p := range r.unwritten() {
		r.option(p).Problem = "the model wrote no cell for it"
	}
	return nil
}

// proposed takes the cells of branches, for options that have none.
func (r *standard) proposed(cells []reply.Branch) {
	for _, p := range r.unwritten() {
		for _, c := range cells {
			if c.Point == p.reading+1 && c.Option == p.option+1 {
				o := r.option(p)
				o.Proposed, o.Steps = c.Code, c.Steps
			}
		}
	}
}

// unwritten returns the pending options that have no cell.
func (r *standard) unwritten() []optionOf {
	return slices.DeleteFunc(r.pending(), func(p optionOf) bool {
		return r.option(p).Proposed != "" || len(r.option(p).Attempts) > 0
	})
}

func (r *standard) option(p optionOf) *record.Option {
	return &r.t.Readings[p.reading].Options[p.option]
}

// An optionOf identifies an option of a reading by their indexes.
type optionOf struct{ reading, option int }

func (p optionOf) String() string {
	return fmt.Sprintf("reading %d, option %d", p.reading+1, p.option+1)
}

// pending returns the options of open readings that are to be computed. That the data hold no answer
// may hang on a reading, too.
func (r *standard) pending() (all []optionOf) {
	for i, reading := range r.t.Readings {
		for n, o := range reading.Options {
			if reading.Open() && n != reading.Chosen && o.Answer == "" && o.Problem == "" {
				all = append(all, optionOf{i, n})
			}
		}
	}
	return all
}

// askedBranches returns the options whose cells are asked for as the reply is to number them.
func (r *standard) askedBranches() (all []reply.Branch) {
	for _, p := range r.unwritten() {
		all = append(all, reply.Branch{Point: p.reading + 1, Option: p.option + 1})
	}
	return all
}

// computeOption runs the cell of an option's branch.
func (r *standard) computeOption(ctx context.Context, p optionOf, o *record.Option) error {
	answer, problem, err := r.runBranch(ctx, branch{
		name: p.String(),
		task: "Compute the answer under another reading of the question: " + o.Text,
		base: r.kept(o.Steps), known: r.shared, attempts: &o.Attempts,
	}, o.Proposed)
	if err != nil {
		return err
	}
	o.Proposed = ""
	if o.Answer = answer; answer == "" {
		o.Problem = unableBecause(problem)
	}
	o.Same = answer != "" && sameAnswer(answer, r.firstAnswer(), r.inOrder())
	return nil
}

func (r *standard) branchWords() ([]prompts.Part, map[string]string) {
	parts, inputs := r.shared()
	last, _ := r.t.FinalCell()
	ask := prompts.Branches{Code: last.Code, Points: r.points(r.unwritten())}
	ask.Points = slices.DeleteFunc(ask.Points, func(p prompts.OpenPoint) bool {
		return len(p.Others) == 0
	})
	inputs["cell"], inputs["readings"] = last.Code, fmt.Sprint(ask.Points)
	return append(parts, ask), inputs
}

// points returns the readings with the options that the cells take, and the others whose cells are
// asked for.
func (r *standard) points(asked []optionOf) (all []prompts.OpenPoint) {
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
func (r *standard) taken() (all []prompts.Point) {
	for _, reading := range r.t.Readings {
		all = append(all, prompts.Point{Text: reading.Point,
			Taken: reading.Options[reading.Chosen].Text})
	}
	return all
}

// chooseReadings asks a person which option of each open reading that changes the answer is meant.
// The choice becomes a note. If it is not what the cells take, the rounds are reopened.
func (r *standard) chooseReadings(ctx context.Context) (reopened bool, err error) {
	if r.cfg.ChooseReading == nil {
		return false, nil
	}
	for i := range r.t.Readings {
		reading := &r.t.Readings[i]
		if !reading.Open() || !reading.Matters() {
			continue
		}
		n, err := r.cfg.ChooseReading(ctx, *reading, r.t.Answer())
		if err != nil {
			return false, err
		}
		if n < 0 {
			continue // it stays open
		}
		option, taken := reading.Options[n], reading.Chosen
		reading.ByUser, reading.Chosen = true, n
		r.t.AddNote(reading.Chose())
		if n == taken {
			continue
		}
		r.t.Second = nil // it did not see the note
		r.takeBack("the user means: "+option.Text, min(option.Steps+1, r.t.Steps()))
		return true, r.follow(ctx)
	}
	return false, nil
}

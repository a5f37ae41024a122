package agent

import (
	"context"
	"slices"

	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/agent/vary"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A Draft is what a verified answer to a question of the same form leaves for another: its cells
// with other values in them. They count once they have run and the judge has found them sufficient.
type Draft struct {
	Variation record.Variation
	steps     []record.Round // steps with their cells
	readings  []record.Reading
	tools     []memory.Tool
	second    string // the cell of the second derivation; "": it is asked for
}

// DraftFrom returns a draft for a question from a run that has verified an answer; nil if the
// questions are not of the same form, or more than values would change.
func DraftFrom(t *record.Trajectory, question string) *Draft {
	if !t.Verified() || t.Inconclusive() || len(t.Earlier) > 0 || len(t.Notes) > 0 || t.Method.Script {
		return nil
	}
	var cells []string
	for _, n := range t.AcceptedRounds() {
		a, _ := t.Rounds[n].Accepted()
		cells = append(cells, a.Code)
	}
	swaps, ok := vary.Between(t.Task.Question, cells, question)
	if !ok {
		return nil
	}
	d := &Draft{tools: t.UsedTools(), Variation: record.Variation{Question: t.Task.Question, Asked: t.Started, Spent: t.Usage,
		Swaps: swaps, Rounds: len(cells)}}
	for i, n := range t.AcceptedRounds() {
		code, _, clean := vary.Code(swaps, cells[i])
		if !clean {
			return nil
		}
		d.steps = append(d.steps, record.Round{Step: vary.Text(swaps, t.Rounds[n].Step), Proposed: code})
	}
	for _, r := range t.Readings {
		if r.Together == nil {
			d.readings = append(d.readings, variedReading(swaps, r))
		}
	}
	// Somebody must have derived an answer from scratch not more than one question ago.
	if s := t.Second; s != nil && !s.Varied && s.Agrees && s.Ruling == "" && len(s.Attempts) > 0 {
		if code, whole, clean := vary.Code(swaps, s.Attempts[len(s.Attempts)-1].Code); whole && clean {
			d.second = code
		}
	}
	return d
}

// DraftNear returns a draft for a question from the nearest one in a memory whose form it has and
// that is usable, with that one and its run; nil if there is none.
func DraftNear(m *memory.Memory, question, guidelines string, usable func(memory.Question) bool) (*Draft,
	memory.Question, *record.Trajectory) {
	for _, q := range m.Near(question, 0.3, 10) { // each costs reading a notebook
		if !q.Verified || !q.SameForm(guidelines) {
			continue
		}
		t, _ := RunOf(m, q)
		if t == nil {
			continue
		}
		if d := DraftFrom(t, question); d != nil && usable(q) {
			return d, q, t
		}
	}
	return nil, memory.Question{}, nil
}

// RunOf returns the run that a question's notebook records; nil, with the reason, if it is not
// there as it was.
func RunOf(m *memory.Memory, q memory.Question) (t *record.Trajectory, problem string) {
	nb, err := notebook.Open(m.NotebookOf(q))
	if err != nil {
		return nil, "its notebook is not there"
	}
	t, err = record.Read(nb)
	if err != nil || t.Answer() != q.Answer || len(t.Earlier) > 0 || len(t.Edits()) > 0 || len(t.Variables) > 0 ||
		t.Method.Script {
		return nil, "its notebook has been changed since"
	}
	if len(t.Notes) > 0 || slices.ContainsFunc(t.Readings, func(r record.Reading) bool { return r.ByUser }) {
		return nil, "a person's note or choice decided it"
	}
	return t, ""
}

// WithoutSecond returns the draft with its second derivation to be asked for.
func (d Draft) WithoutSecond() *Draft {
	d.second = ""
	return &d
}

// Tools returns the names of the functions of memory that the draft's cells use.
func (d *Draft) Tools() (names []string) {
	if d != nil {
		for _, tool := range d.tools {
			names = append(names, tool.Name)
		}
	}
	return names
}

// Fits reports whether a run with a memory has the functions that the draft's cells use, as they
// were.
func (d Draft) Fits(r *record.Recalled) bool {
	for _, tool := range d.tools {
		if r == nil || !slices.ContainsFunc(r.Tools, func(t memory.Tool) bool {
			return t.Name == tool.Name && t.Code == tool.Code
		}) {
			return false
		}
	}
	return true
}

// variedReading returns a reading of a question for another one. The cells of its branches are to
// run.
func variedReading(swaps []vary.Swap, r record.Reading) record.Reading {
	varied := record.Reading{Point: vary.Text(swaps, r.Point), Evidence: vary.Text(swaps, r.Evidence), Chosen: r.Chosen}
	varied.Settled = r.Settled && varied.Evidence == r.Evidence // a rule about one value is not about another
	for _, o := range r.Options {
		option := record.Option{Text: vary.Text(swaps, o.Text), Steps: o.Steps}
		if n := len(o.Attempts); n > 0 && o.Attempts[n-1].Execution.Status == notebook.OK {
			if code, _, clean := vary.Code(swaps, o.Attempts[n-1].Code); clean {
				option.Proposed = code
			}
		}
		varied.Options = append(varied.Options, option)
	}
	return varied
}

// beginDraft carries the draft out and has it judged. Unless it suffices as it is, the rounds go on
// from what is left of it, and the second derivation is asked for.
func (r *standard) beginDraft(ctx context.Context) error {
	d := r.cfg.Draft
	if d == nil || len(r.t.Rounds) > 0 {
		return nil
	}
	r.t.Readings = slices.Clone(d.readings)
	r.ground(r.t.Readings)
	for i, step := range d.steps {
		if err := r.beginRound(step.Step, step.Proposed); err != nil {
			return err
		}
		if done, err := r.implement(ctx); err != nil || !done {
			if err == nil {
				_, err = r.restore(ctx)
			}
			return err
		}
		if i == len(d.steps)-1 {
			break
		}
		r.current().Verdict = &record.Verdict{Unfinished: true, Reason: "the next step of the other question follows"}
		r.current().Route = &record.Route{Reason: r.current().Verdict.Reason}
		if err := r.follow(ctx); err != nil {
			return err
		}
	}
	if err := r.judge(ctx); err != nil {
		return err
	}
	if r.asDrafted() && d.second != "" && !r.t.Method.NoSecond && !r.t.Inconclusive() {
		r.t.Second = &record.Second{Proposed: d.second, Varied: true}
	}
	return nil
}

// asDrafted reports whether the judge found the draft sufficient, and no cell of it had to be
// repaired.
func (r *standard) asDrafted() bool {
	return r.t.Sufficient() &&
		!slices.ContainsFunc(r.t.Rounds, func(x record.Round) bool { return len(x.Attempts) != 1 })
}

// variedFrom returns from which question the cells are taken, for the judge, while
// an accepted one is.
func (r *standard) variedFrom(inputs map[string]string) prompts.Varied {
	if r.t.Recalled == nil || r.t.Recalled.Varied == nil {
		return prompts.Varied{}
	}
	from := r.t.Recalled.Varied
	if !slices.ContainsFunc(r.t.AcceptedRounds(), func(n int) bool { return n < from.Rounds }) {
		return prompts.Varied{}
	}
	inputs["varied"] = from.Question + "\n" + from.String()
	return prompts.Varied{Question: from.Question, Swaps: from.String()}
}

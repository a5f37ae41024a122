package record

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// A Later question follows the one that is the last at the moment. Begin is the number of rounds
// that were before its own.
type Later struct {
	Part
	Begin  int     `json:"begin"`
	Rounds []Round `json:"rounds"`
}

// A Start is where a question begins again: the notebook as a person left it.
type Start struct {
	Given    []int          `json:"given"`             // the rounds, from 1, whose cells are its steps
	Words    map[int]string `json:"words,omitempty"`   // of the person's for the steps of some of them
	Last     string         `json:"last,omitempty"`    // the last cell
	ByHand   bool           `json:"by_hand,omitempty"` // which a person wrote
	Readings []Reading      `json:"readings,omitempty"`
	Less     bool           `json:"less,omitempty"` // a person took steps away, and wants others
}

// Final returns the last cell, which is still to run.
func (s Start) Final() *Final {
	ran := notebook.Execution{Status: notebook.OK, Outputs: []notebook.Output{}}
	return &Final{Attempts: []Attempt{{Code: s.Last, Execution: ran}}, ByHand: s.ByHand, Again: true}
}

// Anew returns a number that tells the requests about steps after a person took some away, from
// those before: 0 if nobody did.
func (t *Trajectory) Anew() (n int) {
	for i := t.EarlierRounds(); i < len(t.Rounds); i++ {
		if edit := t.Rounds[i].Edit; edit != nil && edit.Start != nil && edit.Start.Less {
			n++
		}
	}
	return n
}

// asPart returns the last part as one that is followed by another.
func (t *Trajectory) asPart() Part {
	return Part{Question: t.Task.Question, Guidelines: t.Task.Guidelines, End: len(t.Rounds),
		Final: t.Final, Proof: t.Proof, Readings: t.Readings, Second: t.Second, Limits: t.Limits}
}

// take makes what a part says that of the last one.
func (t *Trajectory) take(p Part) {
	t.Task.Question, t.Task.Guidelines = p.Question, p.Guidelines
	t.Final, t.Proof, t.Readings, t.Second, t.Limits = p.Final, p.Proof, p.Readings, p.Second, p.Limits
}

// unproved returns the first earlier question, from 0, whose answer is not proved as it is now; -1
// if there is none.
func (t *Trajectory) unproved() int {
	return slices.IndexFunc(t.Earlier, func(p Part) bool { return p.Proof == nil || p.Proof.Unable })
}

// Again returns the edit with which the last part begins again from the cells that it has.
func (t *Trajectory) Again(what ...string) Edit {
	cells := Numbers(t.CellRounds())
	e := Edit{What: what, Plan: []int{}, Rest: cells, Start: &Start{Given: cells, Readings: restated(t.Readings)}}
	for _, n := range cells {
		if words := t.Rounds[n-1].Rewrite; words != "" {
			if e.Start.Words == nil {
				e.Start.Words = map[int]string{}
			}
			e.Start.Words[n] = words
		}
	}
	if a, ok := t.FinalCell(); ok {
		e.Start.Last, e.Start.ByHand = a.Code, t.Final.ByHand
	} else if s := t.Start(); t.Final == nil && s != nil && s.ByHand { // it has not run yet
		e.Start.Last, e.Start.ByHand = s.Last, true
	}
	return e
}

// Restart has questions begin again: those that were changed, by their number from 0, and all after
// the first of them, which build on other cells now. It leaves the first as the last one; the others
// wait for [Trajectory.Next].
func (t *Trajectory) Restart(changed map[int]Edit) {
	first := slices.Min(slices.Collect(maps.Keys(changed)))
	for j := len(t.Earlier); ; j-- {
		edit, is := changed[j]
		if !is {
			edit = t.Again(fmt.Sprintf("question %d was changed", first+1))
		}
		begin := t.EarlierRounds()
		rounds := append(slices.Clone(t.Rounds[begin:]), Round{Edit: &edit})
		t.Unsettle()
		if t.Readings = slices.Clone(edit.Start.Readings); t.Final != nil {
			final := *t.Final
			t.Final, final.Answer, final.Again = &final, "", true
			if edit.Start.Last == "" {
				t.Final = nil
			}
		}
		if j == first {
			t.Rounds = append(t.Rounds[:begin:begin], rounds...)
			break
		}
		t.Later = slices.Insert(t.Later, 0, Later{Part: t.asPart(), Begin: begin, Rounds: rounds})
		p := t.Earlier[j-1]
		t.Earlier, t.Rounds = t.Earlier[:j-1], t.Rounds[:p.End]
		t.take(p)
	}
	t.Ended, t.Failure = false, ""
}

// Renew has the files described again, and all questions begin again from the cells that they have.
func (t *Trajectory) Renew(why string) {
	t.Described, t.Descriptions, t.Relations = false, nil, ""
	if len(t.Rounds) == 0 {
		return
	}
	changed := map[int]Edit{}
	for k := range len(t.Earlier) + 1 {
		changed[k] = t.Part(k).Again(why)
	}
	t.Restart(changed)
}

// Rewind leaves of each question what a person has left, the rounds up to the last edit, to be
// answered from there: all else is in the journal. It begins with the first question.
func (t *Trajectory) Rewind() {
	all := t.Later
	for {
		begin := t.EarlierRounds()
		all = slices.Insert(all, 0, Later{Part: t.asPart(), Begin: begin, Rounds: t.Rounds[begin:]})
		n := len(t.Earlier)
		if n == 0 {
			break
		}
		p := t.Earlier[n-1]
		t.Earlier, t.Rounds = t.Earlier[:n-1], t.Rounds[:p.End]
		t.take(p)
	}
	for i := range all {
		all[i] = all[i].begun()
	}
	t.Rounds, t.Later = nil, all
	t.Notes = nil
	t.takeFirst()
}

// begun returns what a person has left of a question.
func (l Later) begun() Later {
	p := Part{Question: l.Question, Guidelines: l.Guidelines, Limits: l.Limits}
	at := lastStart(l.Rounds)
	rounds := slices.Clone(l.Rounds[:at+1])
	if at >= 0 {
		edit := *rounds[at].Edit
		edit.Plan, edit.Rest = []int{}, slices.Clone(edit.Start.Given)
		rounds[at] = Round{Edit: &edit}
		for n, words := range edit.Start.Words {
			rounds[n-1-l.Begin].Rewrite = words
		}
		p.Readings = restated(edit.Start.Readings)
		if edit.Start.Last != "" {
			p.Final = edit.Start.Final()
		}
	}
	return Later{Part: p, Begin: l.Begin, Rounds: rounds}
}

// lastStart returns the index of the round with which a person has a question begin; -1: none has.
func lastStart(rounds []Round) int {
	for i := len(rounds) - 1; i >= 0; i-- {
		if edit := rounds[i].Edit; edit != nil && edit.Start != nil {
			return i
		}
	}
	return -1
}

// Start returns where the last question begins again; nil: with its first step.
func (t *Trajectory) Start() *Start {
	if i := lastStart(t.Rounds[t.EarlierRounds():]); i >= 0 {
		return t.Rounds[t.EarlierRounds()+i].Edit.Start
	}
	return nil
}

// Next goes on with the first of the later questions, if the one before has an answer, and reports
// whether it does.
func (t *Trajectory) Next() bool {
	if len(t.Later) == 0 || t.Answer() == "" {
		return false
	}
	t.Earlier = append(t.Earlier, t.asPart())
	t.takeFirst()
	return true
}

// takeFirst makes the first of the later questions the last one.
func (t *Trajectory) takeFirst() {
	l := t.Later[0]
	t.Later = slices.Clone(t.Later[1:])
	by := len(t.Rounds) - l.Begin
	for i := range t.Later {
		t.Later[i].move(by)
	}
	t.Rounds = append(t.Rounds, l.move(by)...)
	for i, k := range t.Remarks {
		if m := ofRound().FindStringSubmatch(k.After); m != nil && by != 0 {
			if n, err := strconv.Atoi(m[2]); err == nil && n > l.Begin-by {
				t.Remarks[i].After = fmt.Sprintf("%s%d", m[1], n+by)
			}
		}
	}
	t.take(l.Part)
	for _, n := range t.Left {
		if n.Part <= len(t.Earlier)+1 && !slices.Contains(t.Notes, n.Text) {
			t.Notes = append(t.Notes, n.Text)
		}
	}
}

var ofRound = lazy.Regexp(`^(round-|step-|verdict-)(\d{1,9})$`)

// move moves the numbers of the rounds.
func (l *Later) move(by int) []Round {
	l.Begin += by
	for i, r := range l.Rounds {
		if r.Edit != nil && by != 0 {
			edit := *r.Edit
			edit.Plan, edit.Rest = shifted(edit.Plan, by), shifted(edit.Rest, by)
			if edit.Start != nil {
				start := *edit.Start
				start.Given, start.Words = shifted(start.Given, by), map[int]string{}
				for n, words := range edit.Start.Words {
					start.Words[n+by] = words
				}
				edit.Start = &start
			}
			l.Rounds[i].Edit = &edit
		}
	}
	return l.Rounds
}

func shifted(numbers []int, by int) []int {
	numbers = slices.Clone(numbers)
	for i := range numbers {
		numbers[i] += by
	}
	return numbers
}

// A Left is a note to the agent that a person left, which is for a question, by its number, and all
// after it.
type Left struct {
	Text string `json:"text"`
	Part int    `json:"part"`
}

// AddNote adds a person's note to the agent, which is for the last question and those after it.
func (t *Trajectory) AddNote(text string) {
	if !slices.Contains(t.Notes, text) {
		t.Left = append(t.Left, Left{text, len(t.Earlier) + 1})
	}
	t.Decide(text)
}

// Decide adds what a person has decided while the run went on to the notes. The notebook shows it
// below the question.
func (t *Trajectory) Decide(text string) {
	if slices.Contains(t.Notes, text) {
		return
	}
	t.Notes = append(t.Notes, text)
	if slices.ContainsFunc(t.Remarks, func(r Remark) bool { return isNote(r.Cell, text) }) {
		return
	}
	question := "asked" // the id of its cell
	if n := len(t.Earlier); n > 0 {
		question += fmt.Sprint("-", n+1)
	}
	t.Remarks = append(t.Remarks, Remark{After: question, Cell: notebook.Cell{
		ID: fmt.Sprintf("note-%d", len(t.Notes)), Type: notebook.Markdown, Source: text,
		Metadata: map[string]any{"tags": []any{NoteTag}}}})
}

// isNote reports whether a cell is a note to the agent with a text.
func isNote(c notebook.Cell, text string) bool {
	return slices.Contains(c.Tags(), NoteTag) && c.Source == text
}

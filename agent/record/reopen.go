package record

import (
	"fmt"
	"slices"
	"strconv"

	"dsstar/notebook/lazy"
)

// A Later question followed one that is the last again. Begin is the number of rounds that were
// before its own.
type Later struct {
	Part
	Begin  int     `json:"begin"`
	Rounds []Round `json:"rounds"`
	Noted  string  `json:"noted,omitempty"` // what a person has noted since: it runs and is judged again
}

// asPart returns the last part as one that is followed by another.
func (t *Trajectory) asPart() Part {
	return Part{Question: t.Task.Question, Guidelines: t.Task.Guidelines, End: len(t.Rounds),
		Final: t.Final, Proof: t.Proof, Readings: t.Readings, Second: t.Second}
}

// take makes what a part says that of the last one.
func (t *Trajectory) take(p Part) {
	t.Task.Question, t.Task.Guidelines = p.Question, p.Guidelines
	t.Final, t.Proof, t.Readings, t.Second = p.Final, p.Proof, p.Readings, p.Second
}

// unproved returns the first earlier question, from 0, whose answer is not proved as it is now; -1
// if there is none.
func (t *Trajectory) unproved() int {
	return slices.IndexFunc(t.Earlier, func(p Part) bool { return p.Proof == nil || p.Proof.Unable })
}

// Reopen makes earlier question k, from 0, the last one again. The questions after it wait for
// [Trajectory.Next], and are proved again. The caller decides what happens to question k, and notes
// it: see [Trajectory.AddNote].
func (t *Trajectory) Reopen(k int) { t.ReopenChanged(k, map[int]Change{}) }

// Noted has the later questions run, judged and derived again, as a person has noted something.
func (t *Trajectory) Noted(what string) {
	for i := range t.Later {
		t.Later[i].Noted = what
	}
}

// Withdraw withdraws what was judged, derived and proved of earlier question k, from 0, and of those
// that build on it, because its cells now give something else.
func (t *Trajectory) Withdraw(k int) {
	for j := k; j < len(t.Earlier); j++ {
		if j > k && !slices.Contains(t.Part(j).BuildsOn(), k) {
			continue
		}
		p := &t.Earlier[j]
		p.Proof, p.Second, p.Readings = nil, nil, restated(p.Readings)
		t.Rounds[p.End-1].Verdict = &Verdict{Withdrawn: true, Reason: "A cell printed something else when it was run again."}
	}
}

// ProveAgain reopens the first earlier question that is not proved as it is now. It and those that
// follow it are then proved again. Questions whose answers were withdrawn run again before.
func (t *Trajectory) ProveAgain() {
	k := t.unproved()
	if k < 0 || t.Adopted || len(t.Later) > 0 {
		return
	}
	changed := map[int]Change{}
	for j := k; j < len(t.Earlier); j++ {
		if part := t.Part(j); part.Second == nil && !part.Method.NoSecond {
			changed[j] = Change{What: []string{"its answer was withdrawn"}, Rest: part.CellRounds()}
		}
	}
	t.ReopenChanged(k, changed)
}

// Renew has the files described again, and the cells of all questions run again.
func (t *Trajectory) Renew(why string) {
	t.StartOver(why)
	if len(t.Earlier) == 0 {
		return
	}
	changed := map[int]Change{len(t.Earlier): {}} // it has just begun again
	for k := range t.Earlier {
		changed[k] = Change{What: []string{why}, Rest: t.Part(k).CellRounds()}
	}
	t.ReopenChanged(0, changed)
}

// A Change says what became of the cells of a question. The zero Change leaves it to the caller
// which of its cells run again.
type Change struct {
	What  []string // in words
	Rest  []int    // rounds whose cells run again
	Steps bool     // the cells are not those of before
}

// ReopenChanged is Reopen for several questions that were changed, the first of which is k.
func (t *Trajectory) ReopenChanged(k int, changed map[int]Change) {
	for j := k + 1; j <= len(t.Earlier); j++ {
		on := t.Part(j).BuildsOn()
		at := slices.IndexFunc(on, func(i int) bool { _, is := changed[i]; return is })
		if _, is := changed[j]; !is && at >= 0 {
			changed[j] = Change{What: []string{fmt.Sprintf("question %d, on which it builds, was changed", on[at]+1)},
				Rest: t.Part(j).CellRounds()}
		}
	}
	for {
		if c := changed[len(t.Earlier)]; len(c.What) > 0 {
			t.runAgain(c)
		}
		t.Proof = nil
		last := len(t.Earlier) - 1
		if last < k {
			break
		}
		p := t.Earlier[last]
		t.Later = slices.Insert(t.Later, 0, Later{Part: t.asPart(), Begin: p.End, Rounds: slices.Clone(t.Rounds[p.End:])})
		t.Earlier, t.Rounds = t.Earlier[:last], t.Rounds[:p.End]
		t.take(p)
	}
	t.Ended, t.Failure = false, ""
}

// runAgain has the cells of the last part run again, and its answer judged and derived.
func (t *Trajectory) runAgain(c Change) {
	t.Rounds = append(t.Rounds, Round{Edit: &Edit{What: c.What, Plan: []int{}, Rest: Numbers(c.Rest), Steps: c.Steps}})
	t.Unsettle()
	if _, there := t.FinalCell(); there {
		t.Final.Again, t.Final.Answer = true, ""
	} else if t.Final != nil {
		t.Final = &Final{Begun: t.Final.Begun + 1}
	}
}

// Next goes on with the first of the later questions, if the one before has an answer, and reports
// whether it does.
func (t *Trajectory) Next() bool {
	if len(t.Later) == 0 || t.Answer() == "" {
		return false
	}
	l := t.Later[0]
	t.Later = slices.Clone(t.Later[1:])
	t.Earlier = append(t.Earlier, t.asPart())
	by := len(t.Rounds) - l.Begin
	for i := range t.Later {
		t.Later[i].move(by)
	}
	t.Rounds = append(t.Rounds, l.move(by)...)
	for i, k := range t.Remarks {
		if m := ofRound().FindStringSubmatch(k.After); m != nil {
			if n, err := strconv.Atoi(m[2]); err == nil && n > l.Begin-by {
				t.Remarks[i].After = fmt.Sprintf("%s%d", m[1], n+by)
			}
		}
	}
	if t.take(l.Part); l.Noted != "" && len(t.Edits()) == 0 {
		t.runAgain(Change{What: []string{l.Noted}, Rest: t.CellRounds()})
	}
	return true
}

var ofRound = lazy.Regexp(`^(round-|step-|verdict-)(\d{1,9})$`)

// move moves the numbers of the rounds.
func (l *Later) move(by int) []Round {
	l.Begin += by
	for i, r := range l.Rounds {
		if r.Edit != nil {
			edit := *r.Edit
			edit.Plan, edit.Rest = shifted(edit.Plan, by), shifted(edit.Rest, by)
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

package record

import "strconv"

// Decided is the kind of the journal's entries about what a person has decided while a run went on.
const Decided = "decision"

// A Decision is what a person has decided. Note is what it adds to the notes, if it does.
type Decision struct {
	Choice string `json:"choice,omitempty"`
	Option int    `json:"option,omitempty"` // of a reading
	Text   string `json:"text,omitempty"`   // the step
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	Unseen bool   `json:"unseen,omitempty"` // the person did not want to be asked
	Note   string `json:"note,omitempty"`
}

// MeantOf is what the decision rests on which option of reading i is meant: the words alone, whatever
// comes out.
func MeantOf(q *Question, i int) any {
	on := []any{"reading", q.Text, q.Readings[i].Point}
	for _, o := range q.Readings[i].Options {
		on = append(on, o.Text)
	}
	return on
}

// ChoiceOf is the decision that option n of a reading is meant; -1: it stays open.
func ChoiceOf(r Reading, n int) Decision {
	d := Decision{Option: n}
	if n >= 0 && n < len(r.Options) {
		r.Chosen = n
		d.Note = r.Chose()
	}
	return d
}

// Changed has the questions after question k, from 0, begin again, as what they build on changes,
// and question k as it was.
func (t *Trajectory) Changed(k int) {
	t.Ended, t.Failure, t.Questions[k].Proof = false, "", nil
	if k < t.Earlier() {
		t.Proof = nil
		what := "what question " + strconv.Itoa(k+1) + " means was chosen"
		t.Restart(map[int]*Start{k + 1: t.Questions[k+1].Again(what)})
	}
}

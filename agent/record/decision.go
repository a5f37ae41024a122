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
func MeantOf(t *Trajectory, i int) any {
	on := []any{"reading", t.Task.Question, t.Readings[i].Point}
	for _, o := range t.Readings[i].Options {
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
	t.Ended, t.Failure, t.Proof = false, "", nil
	if k < len(t.Earlier) {
		t.Earlier[k].Proof = nil
		changed := map[int]Edit{}
		for j := k + 1; j <= len(t.Earlier); j++ {
			changed[j] = t.Part(j).Again("what question " + strconv.Itoa(k+1) + " means was chosen")
		}
		t.Restart(changed)
	}
}

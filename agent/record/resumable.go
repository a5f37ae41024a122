package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dsstar/agent/files"
	"dsstar/agent/journal"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// Finished reports whether a run has nothing left to do, given the current data files and the
// maximum number of rounds.
func Finished(t *Trajectory, files []File, maxRounds int) bool {
	unproved := func(q *Question) bool {
		unable := q.Proof == nil || q.Proof.Unable || q.Second != nil && q.Second.Unable
		return unable && (q == t.Question || !t.Adopted)
	}
	done := t.Sufficient() || t.RoundsLeft(maxRounds) <= 0 || t.Judged().Disputes > 0
	return t.Stands() && !slices.ContainsFunc(t.Questions, unproved) && done &&
		t.DataChanges(files) == ""
}

// DataChanges says how the data files and their companions, with their sums, differ in name, size
// or content from those that the run began with. It returns "" if they do not.
func (t *Trajectory) DataChanges(now []File) string {
	shown, rest := map[string]File{}, []File{}
	for _, f := range t.Task.Files {
		shown[f.Name] = f
	}
	for _, f := range now {
		if was, is := shown[f.Name]; !is {
			rest = append(rest, f)
		} else if !f.Same(was) {
			return f.Name + " or a file that belongs to it has other content"
		}
	}
	if len(now)-len(rest) != len(shown) || len(rest) != t.Task.Others ||
		t.Task.Rest != "" && t.Task.Rest != files.Digest(rest) {
		return "there are other files"
	}
	return ""
}

// Disown leaves nothing proved or judged of a trajectory that a stranger may have written: files
// are described, cells run, and the plan is judged, derived and proved again. What was planned,
// written and answered stays, and what is named here. Notes stay as text, and cells that a person
// wrote as any others: they are no wishes of this user. Variables do not stay: the cell that loads
// them runs what the record says.
func (t *Trajectory) Disown() {
	t.Renew("another dsstar made this run: its cells run again, and its answer is judged, derived " +
		"and proved again")
	for _, q := range slices.Concat(t.Questions, t.Later) {
		s := cmp.Or(q.Start, &Start{})
		for i := range s.Given {
			s.Given[i].ByHand = false
		}
		for i := range s.Readings {
			s.Readings[i].Settled, s.Readings[i].ByUser = false, false
		}
		s.ByHand, q.Limits = false, Limits{}
		q.Rewind()
	}
	remarks := slices.Clone(t.Remarks)
	for i := range remarks {
		remarks[i].Cell.Metadata = map[string]any{} // which had the tag of a note
	}
	*t = Trajectory{Task: t.Task, Method: t.Method, Environment: t.Environment, Sandbox: t.Sandbox,
		Question: t.Question, Questions: t.Questions, Later: t.Later, Remarks: remarks, Scripts: t.Scripts,
		Choice: t.Choice, Recalled: t.Recalled, Seal: t.Seal, Journal: &journal.Journal{}, Adopted: true,
		Started: time.Now(), Spent: Spent{Cost: new(float64)}}
	if t.Recalled != nil {
		t.Recalled = &Recalled{Facts: t.Recalled.Facts, Tools: t.Recalled.Tools}
	}
}

// Drop drops a step of the plan, by its number from 1, and all after it, as a person does who
// removes their cells. The run then continues from there.
func (t *Trajectory) Drop(step int) error {
	steps := t.Drawn(false)
	switch {
	case t.Method.Script:
		return &EditError{"a run in the paper's way has no cells to go back to, but whole scripts"}
	case len(t.Edits()) > 0:
		return &EditError{"the notebook was edited, and those edits come first"}
	case step < 1 || step > len(steps):
		return &EditError{fmt.Sprintf("the plan has %s, and no step %d", human.Plural(len(steps), "step"),
			step)}
	}
	start := t.Again(fmt.Sprintf("step %d was dropped, with all after it", step))
	start.Given, start.Less, start.Last, start.ByHand = start.Given[:step-1], true, "", false
	t.Restart(map[int]*Start{t.Earlier(): start})
	return nil
}

// Ask adds another question to the same session, in place of one that has no answer. The error is
// an [*EditError] if a person has changed cells since, or has written some of those that would go.
func (t *Trajectory) Ask(question, guidelines string) error {
	switch unanswered := t.Answer() == ""; {
	case t.Method.Script:
		return &EditError{"a run in the paper's way has no session " +
			"in which another question could be asked"}
	case len(t.Later)+len(t.Edits()) > 0:
		return &EditError{"cells were changed since the question before was answered"}
	case unanswered && t.Mine(1) > 0:
		return &EditError{"the question before has no answer, and cells of yours that would go with it"}
	case unanswered:
		*t.Question = Question{Text: question, Guidelines: guidelines}
	default:
		t.Questions = append(t.Questions, &Question{Text: question, Guidelines: guidelines})
	}
	t.enter(t.Earlier())
	t.Ended, t.Failure = false, ""
	return nil
}

// An EditError describes an edit from which a run cannot continue. The notebook is left as the
// person saved it.
type EditError struct{ Problem string }

func (e *EditError) Error() string { return e.Problem }

// Stands reports whether the run has ended with an answer. What fails after the proof does not
// count.
func (t *Trajectory) Stands() bool {
	proved := t.Proof != nil && !t.Proof.Unable
	return t.Ended && t.Answer() != "" && len(t.Later) == 0 && (t.Failure == "" || proved)
}

// Restart has questions begin again: those that were changed, by their number from 0, and all after
// the first of them, which build on other cells now. It leaves the first as the last one; the
// others wait for [Trajectory.Next].
func (t *Trajectory) Restart(changed map[int]*Start) {
	if len(changed) == 0 {
		return
	}
	first := slices.Min(slices.Collect(maps.Keys(changed)))
	for k, q := range t.Questions[first:] {
		q.Restart(cmp.Or(changed[first+k], q.Again(fmt.Sprintf("question %d was changed", first+1))))
	}
	t.Later = slices.Concat(t.Questions[first+1:], t.Later)
	t.Questions = t.Questions[:first+1]
	t.enter(first)
	t.Ended, t.Failure = false, ""
}

// Renew has the files described again, and all questions begin again from the cells that they have.
func (t *Trajectory) Renew(why string) {
	t.Described, t.Descriptions = false, nil
	changed := map[int]*Start{}
	for k, q := range t.Questions {
		if len(q.Rounds)+len(q.Rest) > 0 {
			changed[k] = q.Again(why)
		}
	}
	t.Restart(changed)
}

// Rewind leaves of each question what a person has left, to be answered from there: all else is in
// the journal. It begins with the first question.
func (t *Trajectory) Rewind() {
	t.Questions, t.Later = nil, slices.Concat(t.Questions, t.Later)
	for _, q := range t.Later {
		q.Rewind()
	}
	t.Notes = slices.DeleteFunc(slices.Clone(t.Notes), func(n Note) bool { return n.Decided })
	t.takeFirst()
}

// Next goes on with the first of the later questions, if the one before has an answer, and reports
// whether it does.
func (t *Trajectory) Next() bool {
	if len(t.Later) == 0 || t.Answer() == "" {
		return false
	}
	t.takeFirst()
	return true
}

// takeFirst makes the first of the later questions the last one.
func (t *Trajectory) takeFirst() {
	t.Questions, t.Later = append(t.Questions, t.Later[0]), t.Later[1:]
	t.enter(len(t.Questions) - 1)
}

// A Note is what a person tells the agent for a question, by its number, and all after it: in the
// notebook, or by what was decided while the run went on.
type Note struct {
	Text    string `json:"text"`
	Part    int    `json:"part"`
	Decided bool   `json:"decided,omitempty"`
}

// Told returns the notes for the last question.
func (t *Trajectory) Told() []string {
	told := lists.Where(t.Notes, func(n Note) bool { return n.Part <= len(t.Questions) })
	return lists.Map(told, func(n Note) string { return n.Text })
}

// AddNote adds a note for the last question and those after it, unless it is there. The notebook
// shows it below the question.
func (t *Trajectory) AddNote(text string, decided bool) {
	if slices.ContainsFunc(t.Notes, func(n Note) bool { return n.Text == text }) {
		return
	}
	t.Notes = append(t.Notes, Note{text, len(t.Questions), decided})
	if slices.ContainsFunc(t.Remarks, func(r Remark) bool {
		return slices.Contains(r.Cell.Tags(), NoteTag) && r.Cell.Source == text
	}) {
		return
	}
	asked := strings.TrimSuffix(fmt.Sprintf("asked-%d", len(t.Questions)), "-1") // the id of its cell
	id := "note-" + Digest(text)
	for slices.ContainsFunc(t.Remarks, func(r Remark) bool { return r.Cell.ID == id }) {
		id += "-2" // a stranger's note says the same, and counts no more
	}
	t.Remarks = append(t.Remarks, Remark{After: asked, Cell: notebook.Cell{
		ID: id, Type: notebook.Markdown, Source: text,
		Metadata: map[string]any{"tags": []any{NoteTag}}}})
}

package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook"
)

// Restart has questions begin again: those that were changed, by their number from 0, and all after
// the first of them, which build on other cells now. It leaves the first as the last one; the others
// wait for [Trajectory.Next].
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
	t.Described, t.Descriptions, t.Relations = false, nil, ""
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
	t.Notes = nil
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

// takeFirst makes the first of the later questions the last one. Notes that a person left are read
// from their questions on.
func (t *Trajectory) takeFirst() {
	t.Questions, t.Later = append(t.Questions, t.Later[0]), t.Later[1:]
	t.enter(len(t.Questions) - 1)
	for _, n := range t.Left {
		if n.Part <= len(t.Questions) && !slices.Contains(t.Notes, n.Text) {
			t.Notes = append(t.Notes, n.Text)
		}
	}
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
		t.Left = append(t.Left, Left{text, len(t.Questions)})
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
	if slices.ContainsFunc(t.Remarks, func(r Remark) bool {
		return slices.Contains(r.Cell.Tags(), NoteTag) && r.Cell.Source == text
	}) {
		return
	}
	asked := strings.TrimSuffix(fmt.Sprintf("asked-%d", len(t.Questions)), "-1") // the id of its cell
	t.Remarks = append(t.Remarks, Remark{After: asked, Cell: notebook.Cell{
		ID: fmt.Sprintf("note-%d", len(t.Notes)), Type: notebook.Markdown, Source: text,
		Metadata: map[string]any{"tags": []any{NoteTag}}}})
}

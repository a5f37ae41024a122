package page

import (
	"encoding/json"

	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// olderVersion is that of notebooks whose rounds are counted through all questions.
const olderVersion = 2

// fromOlder returns the trajectory of a notebook of an older version, of which it takes what does not
// change: task, questions, the words of steps and cells. The questions begin again from these, and are
// judged, derived and proved anew. Rounds keep their numbers; the metadata of their cells get those of
// their questions.
func fromOlder(nb *notebook.Notebook, data []byte) (*record.Trajectory, error) {
	type plain record.Trajectory // whose questions are read here
	type asked struct {
		Question, Guidelines string
		Readings             []record.Reading
	}
	var was struct {
		plain
		Earlier  []asked
		Readings []record.Reading
		Rounds   []struct{ Step string }
		Journal  json.RawMessage `json:"journal"` // of another form
	}
	if err := json.Unmarshal(data, &was); err != nil {
		return nil, err
	}
	t := (*record.Trajectory)(&was.plain)
	t.Questions, t.Later, t.Journal = nil, nil, &journal.Journal{}
	for _, q := range append(was.Earlier, asked{t.Task.Question, t.Task.Guidelines, was.Readings}) {
		t.Question = &record.Question{Text: q.Question, Guidelines: q.Guidelines, Readings: q.Readings}
		t.Questions = append(t.Questions, t.Question)
	}
	part := 0
	for i, c := range nb.Cells {
		var m cellMeta
		if decode(c.Metadata, &m) != nil {
			continue // a person's own
		}
		if m.Role == roleQuestion {
			part = min(max(1, m.Part), len(t.Questions)) - 1
		}
		q := t.Questions[part]
		switch {
		case m.Role == record.RoleStep && 0 < m.Round && m.Round <= len(was.Rounds):
			r := handMade(c, m.Round)
			r.Step, r.ByHand = was.Rounds[m.Round-1].Step, false
			q.Rounds = append(q.Rounds, r)
		case m.Role == record.RoleFinal:
			q.Final = record.Start{Last: c.Source}.Final()
		}
		if m.Round > 0 && part > 0 {
			m.Part = part + 1
			nb.Cells[i].Metadata["dsstar"] = m
		}
	}
	t.Renew("another version of dsstar wrote the notebook")
	return t, nil
}

package page

import (
	"cmp"
	"encoding/json"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// olderVersion is that of notebooks whose rounds are counted through all questions.
const olderVersion = 2

// fromOlder returns the trajectory of a notebook of an older version, of which it takes what does not
// change: task, questions and cells. The questions begin again from these, and are judged, derived
// and proved anew. The metadata of the cells get the numbers of the present version.
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
		Journal  json.RawMessage `json:"journal"` // of another form
	}
	if err := json.Unmarshal(data, &was); err != nil {
		return nil, err
	}
	t := (*record.Trajectory)(&was.plain)
	t.Questions, t.Later, t.Journal = nil, nil, nil
	for _, q := range append(was.Earlier, asked{t.Task.Question, t.Task.Guidelines, was.Readings}) {
		t.Question = &record.Question{Text: q.Question, Guidelines: q.Guidelines, Readings: q.Readings}
		t.Questions = append(t.Questions, t.Question)
	}
	part, words := 0, ""
	for i, c := range nb.Cells {
		var m cellMeta
		if decode(c.Metadata, &m) != nil {
			continue // a person's own
		}
		if m.Role == roleQuestion {
			part = min(max(1, m.Part), len(t.Questions)) - 1
		}
		q := t.Questions[part]
		switch m.Role {
		case roleRound:
			words, m.Round = stepText(c.Source), q.Count()+1
		case roleStep:
			made := handMade(c, 0)
			r := q.Begin(cmp.Or(words, made.Step))
			r.Attempts, m.Round, words = made.Attempts, r.Number, ""
		case roleVerdict:
			m.Round = q.Count()
		case roleFinal:
			q.Final = record.Start{Last: c.Source}.Final()
			continue
		default:
			continue
		}
		if m.Part = part + 1; part == 0 {
			m.Part = 0
		}
		nb.Cells[i].Metadata["dsstar"] = m
	}
	t.Renew("another version of dsstar wrote the notebook")
	return t, nil
}

package page

import (
	"encoding/json"
	"slices"

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
	var was struct {
		plain
		Earlier []struct {
			Question, Guidelines string
			Readings             []record.Reading
		}
		Readings []record.Reading
		Journal  json.RawMessage `json:"journal"` // of another form
	}
	if err := json.Unmarshal(data, &was); err != nil {
		return nil, err
	}
	t := (*record.Trajectory)(&was.plain)
	last := record.Question{Text: t.Task.Question, Guidelines: t.Task.Guidelines, Readings: was.Readings}
	t.Questions, t.Later, t.Journal = nil, nil, nil
	for _, q := range was.Earlier {
		t.Questions = append(t.Questions, &record.Question{Text: q.Question, Guidelines: q.Guidelines,
			Readings: q.Readings})
	}
	t.Questions = append(t.Questions, &last)
	t.Question = &last
	starts := make([]record.Start, len(t.Questions))
	part, words := 0, ""
	for i, c := range nb.Cells {
		var m cellMeta
		if decode(c.Metadata, &m) != nil {
			continue // a person's own
		}
		if m.Role == roleQuestion {
			part = min(max(1, m.Part), len(starts)) - 1
		}
		s := &starts[part]
		switch m.Role {
		case roleRound:
			words = stepText(c.Source)
		case roleStep:
			r := handMade(c, len(s.Given)+1)
			r.Place, r.ByHand = r.Number, false
			if words != "" {
				r.Step = words
			}
			s.Given, words = append(s.Given, r), ""
		case roleFinal:
			s.Last = c.Source
		}
		if slices.Contains([]string{roleRound, roleStep, roleVerdict}, m.Role) {
			m.Round = len(s.Given)
			if m.Role == roleRound {
				m.Round++
			}
			if m.Part = 0; part > 0 {
				m.Part = part + 1
			}
			nb.Cells[i].Metadata["dsstar"] = m
		}
	}
	changed := map[int]*record.Start{}
	for k := range starts {
		start := t.Questions[k].Again("another version of dsstar wrote the notebook")
		start.Given, start.Last = starts[k].Given, starts[k].Last
		changed[k] = start
	}
	t.Restart(changed)
	return t, nil
}

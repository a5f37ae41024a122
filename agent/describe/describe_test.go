package describe

import (
	"fmt"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
)

// Of the tables, the nearest to the question has the most room.
func TestNearQuestion(t *testing.T) {
	table := func(name string) *profile.Profile {
		var columns []profile.Column
		for n := range 40 {
			columns = append(columns, profile.Column{Name: fmt.Sprint(name, n), Line: "number 0 to 10000000; 17 missing"})
		}
		return &profile.Profile{Format: "text", Tables: []profile.Table{{Headline: "900 rows", Names: []string{name}, Columns: columns}}}
	}
	r := &Describer{Asker: ask.NewAsker(ask.Settings{DescriptionChars: 8000, ContextChars: 36_000}, nil, nil), t: &record.Trajectory{}, profiles: map[string]*profile.Profile{}}
	r.t.Task.Question = "Does fraud cost a fine?"
	for n, p := range []*profile.Profile{table("far"), table("near"), table("distant")} {
		name := fmt.Sprint(n)
		r.t.Task.Files = append(r.t.Task.Files, record.File{Name: name})
		r.t.Descriptions, r.profiles[name] = append(r.t.Descriptions, record.Description{File: name}), p
		r.t.Descriptions[n] = r.fromProfile(n, 8000)
	}
	r.share([]int{1, 0, 2})
	if d := r.t.Descriptions; len(d[0].Text) < 400 || len(d[1].Text) < 5*len(d[0].Text)/4 {
		t.Errorf("the nearest table has %d bytes, the next one %d", len(d[1].Text), len(d[0].Text))
	}
}

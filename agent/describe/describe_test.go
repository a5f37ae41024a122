package describe

import (
	"fmt"
	"strings"
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
	r := &Describer{Asker: ask.NewAsker(ask.Settings{DescriptionChars: 8000, ContextChars: 7500}, nil, nil), t: &record.Trajectory{}, profiles: map[string]*profile.Profile{}}
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

// In a folder of many files those that a question needs are told of: a family takes one place, a rare
// word of a name or a column counts, and so does what a document says of a file that it names.
func TestManyFiles(t *testing.T) {
	file := func(name, structure, about string, columns ...string) profile.Profile {
		p := profile.Profile{Format: name, Structure: structure, About: about, Count: "3 rows", Line: "a line"}
		if structure == "" {
			p.Document = about
			return p
		}
		p.Tables = []profile.Table{{Headline: name, Names: columns}}
		for _, c := range columns {
			p.Tables[0].Columns = append(p.Tables[0].Columns, profile.Column{Name: c, Line: "text"})
		}
		return p
	}
	var states []profile.Profile
	for n := range 30 {
		states = append(states, file(fmt.Sprintf("fraud reports/state %02d.csv", n), "states", "fraud reports of areas", "area", "reports"))
	}
	rank, codes := file("rank.csv", "rank", strings.Repeat("place\n", 200), "place", "fraud"), file("x7.csv", "codes", "a b c", "k", "v")
	for name, c := range map[string]struct {
		question string
		files    []profile.Profile
		most     int
		near     string // is described
	}{
		"family":   {"Which place has most fraud reports?", append(states, rank, codes), 3, "rank.csv"},
		"rare":     {"What are reports by region?", append(states[:9:9], file("b.csv", "b", "", "reports", "region")), 1, "b.csv"},
		"document": {"What does a gull weigh?", append(states[:9:9], file("notes.md", "", "x7.csv has what each gull does weigh\nwords\n"), codes), 2, "x7.csv"},
	} {
		r := &Describer{Asker: ask.NewAsker(ask.Settings{DescriptionChars: 8000, ContextChars: 80_000}, nil, nil),
			Options: Options{TopK: c.most}, journal: told{}, t: &record.Trajectory{}, profiles: map[string]*profile.Profile{}}
		r.t.Task.Question = c.question
		for n, p := range c.files {
			r.profiles[p.Format] = &c.files[n]
			r.t.Task.Files = append(r.t.Task.Files, record.File{Name: p.Format})
			r.t.Descriptions = append(r.t.Descriptions, record.Description{File: p.Format})
		}
		if err := r.keepTop(); err != nil {
			t.Fatal(err)
		}
		r.word()
		shown, left := r.Files(r.Sizes())
		described, families := false, ""
		for _, f := range shown {
			described = described || strings.Contains(f.Path, c.near) && f.Description != ""
			families += f.Alike
		}
		if !described || strings.Contains(left, "state") ||
			name == "family" && strings.Count(families, "state ") != len(states)-1 {
			t.Errorf("%s: shown are %v, and left out %s", name, shown, left)
		}
	}
}

// told is a journal that keeps nothing.
type told struct{}

func (told) Warn(string) error                       { return nil }
func (told) Started(string) error                    { return nil }
func (told) Described(int, record.Description) error { return nil }

// What is shown of files takes no more than the context has room for, and of a small one most of it.
func TestParts(t *testing.T) {
	for _, c := range []struct{ all, tables, documents int }{
		{8000, 3200, 4000}, {20_000, 6666, 10_000}, {80_000, 6666, 26_666}, {240_000, 20_000, 80_000},
	} {
		sum := near.of(c.all) + documents.of(c.all) + far.of(c.all)
		if near.of(c.all) != c.tables || documents.of(c.all) != c.documents || sum > c.all {
			t.Errorf("of %d: %d, %d, together %d", c.all, near.of(c.all), documents.of(c.all), sum)
		}
	}
}

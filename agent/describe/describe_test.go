package describe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
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

// A profile is kept for files of which it says the same, and not for parts of a table that folders
// make: what lies beside a file counts.
func TestStoreKey(t *testing.T) {
	key := func(names string) string {
		dir := t.TempDir()
		r := &Describer{Options: Options{Cache: &Cache{Dir: "kept"}}, t: &record.Trajectory{}, data: dir}
		for _, name := range strings.Fields(names) {
			at := filepath.Join(dir, name)
			if os.MkdirAll(filepath.Dir(at), 0o700) != nil || os.WriteFile(at, []byte("content"), 0o600) != nil {
				t.Fatal(at)
			}
		}
		all, err := files.List(t.Context(), []files.Source{{Path: dir}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.keptAt(files.In(dir), all.Files[0])
	}
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"c/a.csv", "a.csv b.csv", true},                     // another folder, or a file beside it, makes it no other table
		{"year=2020/a.parquet", "year=2021/a.parquet", true}, // none
		{"a.csv", "a.tsv", false}, {"a.dbf", "a.dbf a.cpg", false}, {"a.shp", "a.shp a.prj", false},
	} {
		if same := key(c.one) == key(c.other); same != c.same {
			t.Errorf("%s and %s: the same key %v", c.one, c.other, same)
		}
	}
}

// A profile is kept unless the next run may find more.
func TestKeepProfile(t *testing.T) {
	for n, p := range []profile.Profile{{Format: "x"}, {Format: "x", Untried: true}, {Format: "x", Problem: "y"}} {
		at := filepath.Join(t.TempDir(), "ab", "c.json")
		keep(at, p)
		if _, kept := keptProfile(at); kept != (n == 0) {
			t.Errorf("%d: kept %v", n, kept)
		}
	}
}

package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
)

// listing returns what is listed of files of a folder, and of all of them.
func listing(t *testing.T, dir string, files, patterns []string) (all []profile.Listing) {
	t.Helper()
	var paths []string
	for _, name := range files {
		paths = append(paths, brief.Python(name))
	}
	out := run(t, dir, profile.Values(paths, patterns, 60, time.Minute, "mark"))
	for line := range strings.Lines(out) {
		var l profile.Listing
		text := strings.TrimPrefix(line, fmt.Sprintf("mark %d ", len(all)))
		if bad := json.Unmarshal([]byte(text), &l); bad != nil {
			t.Fatalf("%v:\n%s", bad, out)
		}
		all = append(all, l)
	}
	if len(all) != len(files)+1 {
		t.Fatalf("%d lines of %d files:\n%s", len(all), len(files), out)
	}
	return all
}

// TestValues: the values of columns are listed as files have them, and as pandas reads them.
func TestValues(t *testing.T) {
	t.Parallel()
	dir, _ := made(t, "binaries.py")
	people := "id,Full Name,born,n\n0012345,Ann,1980-01-05,7\n1234567,\"O'Brien, Bob\",2001-02-03,8\n,,,9\n"
	if err := os.WriteFile(filepath.Join(dir, "people.csv"), []byte(people), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ file, column, has string }{
		{"people.csv", "id", "0012345|1234567"}, {"people.csv", "Full Name", "Ann|O'Brien, Bob"},
		{"people.csv", "born", "1980-01-05|2001-02-03"}, {"merged.xlsx", "shop", ""},
		{"shop.sqlite", "note", ""}, {"typed.parquet", "sort", ""},
	}
	var names []string
	for _, c := range cases {
		names = append(names, c.file)
	}
	all := listing(t, dir, names, []string{"id", "*NAME", "born", "shop", "note", "sort"})
	for n, c := range cases {
		l := all[n]
		for want := range strings.SplitSeq(c.has, "|") {
			if l.Problem != "" || len(l.Columns[c.column]) == 0 || want != "" && !slices.Contains(l.Columns[c.column], want) {
				t.Errorf("%s: %s has %q, %s", c.file, c.column, l.Columns[c.column], l.Problem)
			}
		}
		if _, ok := l.Columns["n"]; ok {
			t.Error("a column that no pattern matches is listed")
		}
	}
}

// TestNoneUnseen: wherever a column stands, its values are listed, or it is told that not all of
// them can be, or that a text has its name. A pattern that is for no column is an error.
func TestNoneUnseen(t *testing.T) {
	t.Parallel()
	dir, _ := made(t, "masked.py")
	cases := []struct {
		file, has string
		problem   bool
		named     bool
	}{
		{file: "levels.csv", has: "Ann Bob Abe Bea"}, {file: "dressed.csv", has: "Ann Bob"},
		{file: "twice.csv", has: "Ann Bob Abe Bea"}, {file: "short.csv", named: true},
		{file: "wide.csv", has: "Ann"}, {file: "page.html", has: "Ann Bob"}, {file: "people.xml", problem: true},
		{file: "people.yaml", has: "0123456 Bob"}, {file: "lines.jsonl", has: "1234567.50 Bob"},
		{file: "readme.md", named: true}, {file: "report.txt", named: true}, {file: "other.md"},
		{file: "broken.parquet", problem: true}, {file: "deep.json", has: "Top Deep0 Deep2 Low0 Low2"},
		{file: "book.xlsx", has: "Ann Bob Cat Dan"}, {file: "nested.parquet", has: "Ann Bob Cat"},
		{file: "object.pkl", problem: true}, {file: "some.zip", has: "Ann Bob"}, {file: "more.zip", problem: true},
		{file: "object.zip", problem: true}, {file: "many.sqlite", problem: true},
	}
	var names []string
	for _, c := range cases {
		names = append(names, c.file)
	}
	all := listing(t, dir, names, []string{"patient"})
	for n, c := range cases {
		var got []string
		for _, values := range all[n].Columns {
			got = append(got, values...)
		}
		for _, want := range strings.Fields(c.has) {
			if !slices.Contains(got, want) {
				t.Errorf("%s lacks %s: %+v", c.file, want, all[n])
			}
		}
		if l := all[n]; (l.Problem != "") != c.problem || l.Named != c.named || c.has == "" && len(got) > 0 {
			t.Errorf("%s: %+v", c.file, l)
		}
	}
	if last := all[len(cases)].Problem; last != "" {
		t.Error(last)
	}
	lacks := listing(t, dir, []string{"levels.csv", "lines.jsonl"}, []string{"patient", "patent"})
	if last := lacks[2].Problem; !strings.Contains(last, "patent") || !strings.Contains(last, "2020 / patient") {
		t.Errorf("what no column is called: %q", last)
	}
}

package lineage_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"dsstar/agent/lineage"
	"dsstar/kernel/pyenv/pyenvtest"
)

// serve runs each script of a line of stdin.
const serve = `
import json, sys
for line in sys.stdin:
    exec(json.loads(line), {})
`

// A sample is a cell, and what is to be found in it: words of a problem or doubt; "": nothing.
type sample struct {
	query lineage.Query
	want  string
}

// samples reads a file of cells. Each sample begins with a line of its kind and what is to be
// found. Lines of --- are between its cells, and ~~~ is after those of the first derivation.
func samples(t *testing.T, path string) (all []sample) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		head, code, _ := strings.Cut(part, "\n")
		kind, want, _ := strings.Cut(head, ": ")
		q := lineage.Query{Kind: lineage.Kind(kind), Question: "How many?"}
		if first, own, ok := strings.Cut(code, "\n~~~\n"); ok {
			q.First, code = strings.Split(first, "\n---\n"), own
		}
		cells := strings.Split("\n"+code, "\n---\n")
		q.Cells, q.Code = cells[:len(cells)-1], cells[len(cells)-1]
		all = append(all, sample{q, want})
	}
	return all
}

// find has one process look at all samples.
func find(t *testing.T, all []sample) []lineage.Found {
	t.Helper()
	var scripts, out bytes.Buffer
	for _, s := range all {
		if err := json.NewEncoder(&scripts).Encode(lineage.Script(s.query)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(pyenvtest.Python(t), "-I", "-c", serve)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &scripts, &out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var found []lineage.Found
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		found = append(found, lineage.Parse(lines.Text()))
	}
	if len(found) != len(all) {
		t.Fatalf("%d lines for %d samples", len(found), len(all))
	}
	return found
}

// TestSamples: every faulty sample is found, and every good one passes.
func TestSamples(t *testing.T) {
	all := append(samples(t, "testdata/faults.txt"), samples(t, "testdata/good.txt")...)
	for i, f := range find(t, all) {
		s := all[i]
		told := strings.TrimSpace(f.Problem + " " + strings.Join(f.Doubts, " "))
		if !strings.Contains(told, s.want) || (s.want == "") != (told == "") {
			t.Errorf("%s: found %q, want %q\n%s\n\n%s", s.query.Kind, told, s.want,
				strings.Join(s.query.Cells, "\n\n"), s.query.Code)
		}
	}
}

// TestAsked: what the question asks for is no doubt.
func TestAsked(t *testing.T) {
	now := sample{query: lineage.Query{Kind: lineage.Last, Question: "How old are they today?",
		Cells: []string{"import pandas as pd\nt = pd.read_csv('data/t.csv', parse_dates=['born'])"},
		Code:  "print((pd.Timestamp.now() - t.born).mean().days)"}}
	later := now
	later.query.Question = "How many days on average?"
	found := find(t, []sample{now, later})
	if len(found[0].Doubts) > 0 || len(found[1].Doubts) != 1 {
		t.Errorf("asked: %q; not asked: %q", found[0].Doubts, found[1].Doubts)
	}
}

package lineage_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"dsstar/agent/lineage"
	"dsstar/kernel/pyenv/pyenvtest"
)

// serve runs the scripts of each line of stdin in one namespace, and those that patch modules in a copy
// of the process.
const serve = `
import json, os, sys
import pandas
for line in sys.stdin:
    codes = json.loads(line)
    patches = any("def elsewhere" in c for c in codes)
    if patches and (pid := os.fork()):
        if os.waitpid(pid, 0)[1]:
            sys.exit(1)
        continue
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    for code in codes:
        exec(code, space)
    sys.stdout.flush()
    if patches:
        os._exit(0)
`

// ran returns what lists of scripts print, a text for each.
func ran(t *testing.T, lists ...[]string) []string {
	t.Helper()
	var in bytes.Buffer
	for _, codes := range lists {
		if err := json.NewEncoder(&in).Encode(append(codes, "print(end='\\0')")); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(pyenvtest.Python(t), "-I", "-c", serve)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	texts := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if err != nil || len(texts) != len(lists) {
		t.Fatalf("%d texts for %d lists: %v", len(texts), len(lists), err)
	}
	return texts
}

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

// find looks at all samples.
func find(t *testing.T, all []sample) (found []lineage.Found) {
	t.Helper()
	var scripts [][]string
	for _, s := range all {
		scripts = append(scripts, []string{lineage.Script(s.query)})
	}
	for _, text := range ran(t, scripts...) {
		found = append(found, lineage.Parse(text))
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

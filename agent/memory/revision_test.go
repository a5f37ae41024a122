package memory

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// revisable is a memory with three facts and two functions that do nearly the same.
func revisable(t *testing.T) *Memory {
	m := read(t, filepath.Join(t.TempDir(), Name))
	for _, text := range []string{"One.", "Two.", "Three."} {
		m.AddFact(Fact{text, "a.csv"})
	}
	m.AddTool(Tool{Name: "total_a", Code: "def total_a():\n    return 42", Test: "# A?\nassert total_a() == 42\n"}, nil)
	m.AddTool(Tool{Name: "total_b", Code: "def total_b(n):\n    return n", Test: "# B?\nassert total_b(1) == 1\nassert total_b(2) == 2\n"}, nil)
	m.AddTool(Tool{Name: "twice", Code: "def twice():\n    return 2 * total_a()", Test: "assert twice() == 84\n"}, nil)
	return m
}

const general = `# Replaces: total_a, total_b
import math

def total(n: int) -> int:
    """The total."""
    return n

def total_a():
    return total(42)

assert total(1) == 1
assert total(2) == 2
assert total_a() == 42
`

// TestProposeRevision: what is named wrongly, or has no source, is told and left out.
func TestProposeRevision(t *testing.T) {
	m := revisable(t)
	r := m.ProposeRevision(`Some words.
- Facts 1 and 3: One and three. — source: a.csv, b.csv
- Fact 2: withdrawn: a glance shows it
- Fact 2: Two again. — source: a.csv
- Fact 4: Four. — source: a.csv
- Fact 3, 3: No source.
`, []string{general, "def free():\n    return 1\nassert free() == 1", "# Replaces: total_a\ndef untested():\n    return 1"})
	want := []Merger{{Old: []string{"One.", "Three."}, New: Fact{"One and three.", "a.csv, b.csv"}},
		{Old: []string{"Two."}, Reason: "a glance shows it"}}
	if diff := cmp.Diff(want, r.Facts); diff != "" {
		t.Error(diff)
	}
	if len(r.Tools) != 1 || r.Tools[0].String() != "total, total_a" || strings.Join(r.Tools[0].Old, " ") != "total_a total_b" ||
		strings.Join(r.Tools[0].Imports, "") != "import math" {
		t.Errorf("functions %+v", r.Tools)
	}
	if text := strings.Join(r.Problems, "\n"); len(r.Problems) != 5 || !strings.Contains(text, "fact 2 is named twice") ||
		!strings.Contains(text, "there is no fact 4") || !strings.Contains(text, "free replaces no function") ||
		!strings.Contains(text, "untested has no case") {
		t.Errorf("problems %q", r.Problems)
	}
}

// TestRevise: the facts and functions that were replaced are gone, also from the files, and the cases
// keep the questions that they come from.
func TestRevise(t *testing.T) {
	m := saved(t, revisable(t))
	r := m.ProposeRevision("- Facts 1, 2: Both. — source: a.csv", []string{general})
	if reason := r.Tools[0].Fault(m); reason != "" {
		t.Error(reason)
	}
	was := read(t, m.Dir)
	m.Revise(r)
	if got := namesOf(r.Tools[0].Touched(was, m)); strings.Join(got, " ") != "twice total total_a" {
		t.Errorf("touched %v", got)
	}
	m = saved(t, m)
	if got := namesOf(m.Tools); strings.Join(got, " ") != "total total_a twice" {
		t.Errorf("functions %v", got)
	}
	if diff := cmp.Diff([]Fact{{"Three.", "a.csv"}, {"Both.", "a.csv"}}, m.Facts); diff != "" {
		t.Error(diff)
	}
	if want := "# A?\n# B?\nassert total(1) == 1\nassert total(2) == 2\n"; m.Tools[0].Test != want {
		t.Errorf("cases %q", m.Tools[0].Test)
	}
}

// TestReplacementFault: the cases must be those of the replaced functions.
func TestReplacementFault(t *testing.T) {
	m := revisable(t)
	for block, want := range map[string]string{
		strings.Replace(general, "assert total(2) == 2\n", "", 1):                   "not all cases of total_b with the value 2",
		strings.Replace(general, "assert total(2) == 2", "assert total(2) == 3", 1): "not all cases of total_b with the value 2",
		general + "assert total(7) == 7\n":                                          "no case that it takes over has the value 7",
		general + "assert total(7)\n":                                               "a case of total is no line",
		strings.Replace(general, "total_b", "total_c", 1):                           "there is no function total_c",
		strings.ReplaceAll(general, "total(", "twice("):                             "there is a function of the name twice",
	} {
		r := m.ProposeRevision("", []string{block})
		if len(r.Tools) != 1 || !strings.Contains(r.Tools[0].Fault(m), want) {
			t.Errorf("%+v\nwant %q", r, want)
		} else if got := r.Tools[0].Fault(m); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Of two calls with the same value, both are needed.
	m.AddTool(Tool{Name: "same", Test: "assert same(1) == 5\nassert same(2) == 5\n"}, nil)
	r := Replacement{Old: []string{"same"}, New: []Tool{{Name: "more", Test: "assert more(1) == 5\nassert more(1) == 5\n"}}}
	if r.Fault(m) == "" {
		t.Error("a case is missing")
	}
}

// TestUsing: verified questions that use a function, the newest first.
func TestUsing(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	m := &Memory{Questions: []Question{
		{Question: "old", Verified: true, Tools: []string{"a"}, Asked: day(1)},
		{Question: "new", Verified: true, Tools: []string{"b", "a"}, Asked: day(3)},
		{Question: "other", Verified: true, Tools: []string{"b"}, Asked: day(4)},
		{Question: "unverified", Tools: []string{"a"}, Asked: day(5)},
	}}
	var got []string
	for _, q := range m.Using("a") {
		got = append(got, q.Question)
	}
	if strings.Join(got, " ") != "new old" {
		t.Error(got)
	}
	if all := (Replacement{Old: []string{"a", "b"}}).Uses(m); len(all) != 3 {
		t.Errorf("%+v", all)
	}
}

// TestTogether: replacements that need each other are one, and no name is defined twice.
func TestTogether(t *testing.T) {
	m := revisable(t)
	a := m.ProposeRevision("", []string{general, "# Replaces: twice\ndef twice():\n    return 2 * total(42)\nassert twice() == 84"})
	all := Together(a.Tools)
	if fault := all.Fault(m); fault != "" || len(all.Old) != 3 || len(all.New) != 3 {
		t.Errorf("%q, %+v", fault, all)
	}
	if fault := Together([]Replacement{a.Tools[0], a.Tools[0]}).Fault(m); fault != "there is a function of the name total" {
		t.Errorf("twice the same: %q", fault)
	}
}

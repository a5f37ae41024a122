package page

import (
	"slices"
	"strings"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
)

// answered is a run of one step with an answer that everything confirms.
func answered(t *testing.T) *record.Trajectory {
	t.Helper()
	tr, err := Read(golden(t, "verified"))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// follow makes a run one whose question follows another one; its second derivation may build on that.
func follow(t *record.Trajectory, builds bool) {
	first := *t.Question
	t.Questions = []*record.Question{&first, t.Question}
	t.Rounds = []record.Round{{Attempts: ran("c = 2"), Verdict: &record.Verdict{Sufficient: true}}}
	t.Readings, first.Readings = nil, nil
	t.Second = &record.Second{Derived: record.Derived{Answer: "North"}, Agrees: true, Builds: builds}
}

// ran returns an attempt that ran.
func ran(code string) []record.Attempt {
	return []record.Attempt{{Code: code, Execution: notebook.Execution{Status: notebook.OK}}}
}

// TestWords: the words of an answer's worth are written only where they are true.
func TestWords(t *testing.T) {
	const own, none, whole, chart, why = "independently", "no reading", "no open reading", "not compared: the chart", "cause"
	const other, nothing = "another answer, South: both may be.", "The data hold no answer: no sales are in it"
	for _, c := range []struct {
		name   string
		change func(*record.Trajectory)
		said   []string // of those above
	}{
		{"as it was", func(*record.Trajectory) {}, []string{own, whole, chart}},
		{"no reading was named", func(t *record.Trajectory) { t.Readings = nil }, []string{own, none, chart}},
		{"from the files, after another question", func(t *record.Trajectory) { follow(t, false) }, []string{own, none}},
		{"with variables of another question", func(t *record.Trajectory) { follow(t, true) }, []string{none}},
		{"in one session", func(t *record.Trajectory) { t.Second.Together = true }, []string{whole, chart}},
		{"the second was told a mistake", func(t *record.Trajectory) {
			t.Second.Rejected = []record.Ruled{{Ruling: record.RuledSecond}}
		}, []string{whole, chart}},
		{"the first was corrected", func(t *record.Trajectory) {
			t.Second.Rejected = []record.Ruled{{Ruling: record.RuledFirst}}
		}, []string{whole, chart}},
		{"the chart is a file", func(t *record.Trajectory) {
			t.Final.Files = []compare.File{{Name: "n.csv", Digest: "1"}, {Name: "c.png", Digest: "2"}}
			t.Second.Files = t.Final.Files
		}, []string{own, whole, "compared: n.csv, c.png"}},
		{"another picture", func(t *record.Trajectory) {
			t.Final.Files = []compare.File{{Name: "c.png", Digest: "2"}}
			t.Second.Files = []compare.File{{Name: "c.png", Digest: "3"}}
		}, []string{own, whole, "not compared: c.png"}},
		{"no chart", func(t *record.Trajectory) {
			t.Rounds[0].Attempts[1].Execution.Outputs = nil
		}, []string{own, whole}},
		{"a why", func(t *record.Trajectory) { t.Task.Question = "Why did it fall?" }, []string{own, whole, chart, why}},
		{"depends", func(t *record.Trajectory) {
			t.Readings[1].Options[1].Same, t.Readings[1].Options[1].Answer = false, "South"
		}, []string{own, chart}},
		{"not verified", func(t *record.Trajectory) {
			t.Second = &record.Second{Derived: record.Derived{Answer: "South"}, Ruling: record.RuledUndecided, Reason: "both may be"}
		}, []string{other}},
		{"inconclusive", func(t *record.Trajectory) {
			t.Rounds[0].Verdict = &record.Verdict{Sufficient: true, Inconclusive: true, Reason: "no sales are in it"}
		}, []string{own, whole, chart, nothing}},
	} {
		tr := answered(t)
		c.change(tr)
		for _, word := range []string{own, none, whole, chart, why, other, nothing, "compared: n.csv, c.png", "not compared: c.png"} {
			if strings.Contains(tr.InWords(), word) != slices.Contains(c.said, word) {
				t.Errorf("%s: %q in %s", c.name, word, tr.InWords())
			}
		}
	}
}

// TestRestate: an answer that changed when the notebook was run again has no sentences, and its
// claims are withdrawn.
func TestRestate(t *testing.T) {
	nb := parse(t, encoded(t, Draw(answered(t))))
	Restate(nb, map[int]string{1: "South"})
	top := nb.Cells[0].Source
	if !strings.Contains(top, "South") || !strings.Contains(top, "Not verified") ||
		strings.Contains(top, "North") || strings.Contains(nb.Cells[1].Source, "no | ") {
		t.Errorf("%s\n%s", top, nb.Cells[1].Source)
	}
	if again := readAgain(t, nb); again.Answer() != "South" || again.Summary() != "" || again.Verified() {
		t.Errorf("%+v", again.Final)
	}
}

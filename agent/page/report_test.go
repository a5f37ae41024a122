package page

import (
	"slices"
	"strings"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook/compare"
)

// follow makes a run one whose question follows another one.
func follow(t *record.Trajectory) {
	first := *t.Question
	t.Questions = []*record.Question{&first, t.Question}
	t.Rounds = []record.Round{{Attempts: record.Left("c = 2"), Verdict: &record.Verdict{Sufficient: true}}}
	t.Readings, first.Readings = nil, nil
	t.Second = &record.Second{Derived: record.Derived{Answer: "North"}, Agrees: true}
}

// TestWords: the words of an answer's worth are written only where they are true.
func TestWords(t *testing.T) {
	words := map[string]string{"own": "independently", "none": "no reading", "whole": "no open reading",
		"chart": "not compared: the chart", "other": "another answer, South: both may be.",
		"nothing": "The data hold no answer: no sales are in it", "files": "compared: n.csv, c.png", "file": "not compared: c.png"}
	rejected := func(ruling string) func(*record.Trajectory) {
		return func(t *record.Trajectory) { t.Second.Rejected = []record.Ruled{{Ruling: ruling}} }
	}
	gave := func(first, second []compare.File) func(*record.Trajectory) {
		return func(t *record.Trajectory) { t.Final.Files, t.Second.Files = first, second }
	}
	table, picture := compare.File{Name: "n.csv", Digest: "1"}, compare.File{Name: "c.png", Digest: "2"}
	for n, c := range []struct {
		said   string
		change func(*record.Trajectory)
	}{
		{"own whole chart", func(*record.Trajectory) {}},
		{"own none chart", func(t *record.Trajectory) { t.Readings = nil }},
		{"none", follow},
		{"whole chart", func(t *record.Trajectory) { t.Second.Together = true }},
		{"whole chart", rejected(record.RuledSecond)}, // it was told a mistake
		{"whole chart", rejected(record.RuledFirst)},
		{"own whole files", gave([]compare.File{table, picture}, []compare.File{table, picture})},
		{"own whole file", gave([]compare.File{picture}, []compare.File{{Name: "c.png", Digest: "3"}})},
		{"own whole", func(t *record.Trajectory) { t.Rounds[0].Attempts[1].Execution.Outputs = nil }},
		{"own chart", func(t *record.Trajectory) {
			t.Readings[1].Options[1].Same, t.Readings[1].Options[1].Answer = false, "South"
		}},
		{"other", func(t *record.Trajectory) {
			t.Second = &record.Second{Derived: record.Derived{Answer: "South"}, Ruling: record.RuledUndecided,
				Reason: "both may be"}
		}},
		{"own whole chart nothing", func(t *record.Trajectory) {
			t.Rounds[0].Verdict = &record.Verdict{Sufficient: true, Inconclusive: true, Reason: "no sales are in it"}
		}},
	} {
		tr := readAgain(t, golden(t, "verified"))
		c.change(tr)
		for key, word := range words {
			if strings.Contains(tr.InWords(), word) != slices.Contains(strings.Fields(c.said), key) {
				t.Errorf("%d: %q in %s", n, word, tr.InWords())
			}
		}
	}
}

// TestRestate: an answer that changed when the notebook was run again has no sentences, and its
// claims are withdrawn.
func TestRestate(t *testing.T) {
	nb := golden(t, "verified")
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

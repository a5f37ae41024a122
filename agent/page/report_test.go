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
func answered() *record.Trajectory {
	ran := func(outputs ...notebook.Output) notebook.Execution {
		return notebook.Execution{Status: notebook.OK, Outputs: outputs}
	}
	print := func(text string) notebook.Output {
		return notebook.Output{Type: notebook.Stream, Name: "stdout", Text: text}
	}
	chart := notebook.Output{Type: notebook.DisplayData,
		Data: notebook.MIMEBundle{"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}}
	return &record.Trajectory{
		Task: record.Task{Question: "The shop has two stores. " + strings.Repeat("They differ. ", 10) +
			"Which sold most?", Data: "../data"},
		Rounds: []record.Round{{Step: "Count the sales.",
			Attempts: []record.Attempt{
				{Code: "1/0", Execution: notebook.Execution{Status: notebook.Raised}},
				{Code: "n = 2", Execution: ran(print("North  2\nSouth  1\n"), chart)},
			},
			Verdict: &record.Verdict{Sufficient: true, Reason: "all is there"}}},
		Final: &record.Final{Attempts: []record.Attempt{{Code: "print('North')", Execution: ran(print("North\n"))}},
			Answer: "North", Summary: "North sold most: 2 of 3 orders, for $7."},
		Readings: []record.Reading{
			{Point: "Which year?", Options: []record.Option{{Text: "2025"}, {Text: "all"}},
				Evidence: `"last year" (question)`, Settled: true},
			{Point: "Do refunds count?", Options: []record.Option{{Text: "yes"}, {Text: "no", Answer: "North",
				Same: true, Attempts: []record.Attempt{{Code: "print('no refunds')", Execution: ran()}}}}},
		},
		Second: &record.Second{Answer: "North", Agrees: true,
			Attempts: []record.Attempt{{Code: "print('again')", Execution: ran()}}},
		Proof: &record.Proof{Same: true},
		Usage: record.Usage{Calls: 3},
		Ended: true,
	}
}

// TestReport: the notebook begins with what came out, what it is worth, and what it rests on.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*record.Trajectory)
		standing string
		top      []string // of the first two cells, in this order
		not      string   // is not in them
	}{
		{"verified", func(*record.Trajectory) {}, "verified",
			[]string{"# Which sold most?", "**Answer**", "North", "**Verified**", "independently", record.ModelsWords,
				"North sold most", "**Assumptions**", "Which year?", "2025", "last year", "![Main chart](attachment:chart.png)",
				"**Key figures**", "South  1", "3 model calls"}, "refunds"},
		{"depends on a reading", func(t *record.Trajectory) {
			t.Readings[1].Options[1].Same, t.Readings[1].Options[1].Answer = false, "South"
			t.Second.Answer, t.Second.Agrees = "South", false // for the same reason
		}, "depends on a reading",
			[]string{"**Depends on a reading**", "Do refunds count?", "North sold most", "Do refunds count?", "| yes *(taken)* | North |",
				"| no | South |"}, "**Verified"},
		{"a settled point that changes the answer", func(t *record.Trajectory) { t.Readings[0].Options[1].Answer = "South" },
			"verified", []string{"**Verified**", "**Assumptions**", "Which year?", "2025", "last year",
				"otherwise (all): South"}, "Depends"},
		{"chosen by a person", func(t *record.Trajectory) {
			t.Readings[1].Options[1].Same, t.Readings[1].Options[1].Answer = false, "South"
			t.Readings[1].ByUser = true
		}, "verified", []string{"**Verified**", "Do refunds count?", "**yes**", "chosen by hand"}, "South |"},
		{"derivations differ", func(t *record.Trajectory) {
			t.Second.Answer, t.Second.Agrees, t.Second.Ruling = "South", false, record.RuledUndecided
			t.Second.Reason = "both may be"
		}, "not verified", []string{"gave another answer, South: both may be."}, "Depends"},
		{"inconclusive", func(t *record.Trajectory) {
			t.Rounds[0].Verdict.Inconclusive, t.Rounds[0].Verdict.Reason = true, "no sales are in it"
		}, "verified", []string{"**Verified**", "The data hold no answer: no sales are in it"}, "Depends"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := answered()
			c.change(tr)
			if got := tr.Standing(); got != c.standing {
				t.Errorf("%s: %q", got, tr.Doubts())
			}
			for _, r := range tr.OpenReadings() {
				for _, o := range r.Options {
					if said := r.InWords("North"); !strings.Contains(said, o.Problem) {
						t.Errorf("%q is not said: %s", o.Problem, said)
					}
				}
			}
			nb := Draw(tr)
			rest := nb.Cells[0].Source
			if nb.Cells[1].ID == roleReport {
				rest += "\n" + nb.Cells[1].Source
			}
			top := rest
			for _, want := range c.top {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%q is not in its place in\n%s", want, top)
				}
				rest = after
			}
			if strings.Contains(top, c.not) {
				t.Errorf("%q is in\n%s", c.not, top)
			}
			readAgain(t, nb)
		})
	}
}

// follow makes a run one whose question follows another one, which has b; its second derivation has
// the code.
func follow(t *record.Trajectory, second string) {
	t.Earlier = []record.Part{{Question: "What?", End: 1, Final: t.Final, Proof: t.Proof, Second: t.Second}}
	t.Rounds = []record.Round{{Attempts: ran("b = 1"), Verdict: &record.Verdict{Sufficient: true}},
		{Attempts: ran("c = 2"), Verdict: &record.Verdict{Sufficient: true}}}
	t.Readings = nil
	t.Second = &record.Second{Answer: "North", Agrees: true, Attempts: []record.Attempt{{Code: second}}}
}

// ran returns an attempt that ran.
func ran(code string) []record.Attempt {
	return []record.Attempt{{Code: code, Execution: notebook.Execution{Status: notebook.OK}}}
}

// TestWords: the words of an answer's worth are written only where they are true.
func TestWords(t *testing.T) {
	const own, none, whole, chart, why = "independently", "no reading", "no open reading", "not compared: the chart", "cause"
	for _, c := range []struct {
		name   string
		change func(*record.Trajectory)
		said   []string // of those above
	}{
		{"as it was", func(*record.Trajectory) {}, []string{own, whole, chart}},
		{"no reading was named", func(t *record.Trajectory) { t.Readings = nil }, []string{own, none, chart}},
		{"from the files, after another question", func(t *record.Trajectory) { follow(t, "s = read()\ns") }, []string{own, none}},
		{"with variables of another question", func(t *record.Trajectory) { follow(t, "s = b\ns") }, []string{none}},
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
		{"not verified", func(t *record.Trajectory) { t.Second.Agrees = false }, nil},
	} {
		tr := answered()
		c.change(tr)
		for _, word := range []string{own, none, whole, chart, why, "compared: n.csv, c.png", "not compared: c.png"} {
			if strings.Contains(tr.InWords(), word) != slices.Contains(c.said, word) {
				t.Errorf("%s: %q in %s", c.name, word, tr.InWords())
			}
		}
	}
}

// An answer that changed when the notebook was run again takes its sentences along, and its claims
// are withdrawn.
func TestRestate(t *testing.T) {
	tr := answered()
	last := &tr.Final.Attempts[0].Execution
	last.Outputs = append(last.Outputs, notebook.Output{Type: notebook.ExecuteResult,
		Data: notebook.MIMEBundle{"text/plain": `'South, it\'s "clear".'`}})
	nb := parse(t, encoded(t, Draw(tr)))
	Restate(nb, map[int]string{1: "South"})
	top := nb.Cells[0].Source
	if !strings.Contains(top, `South, it's "clear".`) || !strings.Contains(top, "Not verified") ||
		strings.Contains(top, "North") || strings.Contains(nb.Cells[1].Source, "no | ") {
		t.Errorf("%s\n%s", top, nb.Cells[1].Source)
	}
	if again := readAgain(t, nb); again.Summary() != `South, it's "clear".` || again.Verified() {
		t.Errorf("%+v", again.Final)
	}
	gave := notebook.Execution{Status: notebook.OK, Outputs: []notebook.Output{
		{Type: notebook.Stream, Name: "stdout", Text: "42\n"},
		{Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{"text/plain": "'There are 41.'"}}}}
	tr = &record.Trajectory{Final: &record.Final{Answer: "41", Summary: "There are 41.", Attempts: []record.Attempt{{Execution: gave}}}}
	if tr.Restate(map[int]string{1: "42"}); tr.Answer() != "42" || tr.Summary() != "" {
		t.Errorf("answer %q, summary %q", tr.Answer(), tr.Summary())
	}
}

package agent_test

import (
	"bytes"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestAsk: the next question is asked after an answer, replaces one for which nothing was done, and
// its requests and its part of the notebook come after those before.
func TestAsk(t *testing.T) {
	tr := next(t, play(t, simple).noError(t).Trajectory)
	p := goOn(t, onward, question("What now?", "A word.")(t, tr)).noError(t)
	if len(p.Earlier) != 1 || p.Task.Question != "What now?" {
		t.Errorf("%d questions before %q", len(p.Earlier), p.Task.Question)
	}
	contains(t, p.model.prompt(t, "solver round 2"), "# Question\n\nWhat now?", "Question 1: How many?", "x = 1")
	nb := readNotebook(t, p.Trajectory)
	contains(t, nb.Cells[cellOf(t, nb, "question-2")].Source, "# What now?", "12", "Verified")
	if err := (&record.Trajectory{Rounds: make([]record.Round, 1)}).Ask("??", ""); err == nil {
		t.Error("a question was asked before the first was answered")
	}
}

// TestAskInherits: a follow-up that builds on an answer is worth no more than that, and its
// requests say what that is worth. Where one builds on nothing of it, the judge is asked whether what
// that leaves open is open for it, too: then it has readings of its own.
func TestAskInherits(t *testing.T) {
	for _, c := range []struct {
		name, cell       string
		second           string // of the first question
		takes            string // as the judge of the follow-up says
		branch           string
		standing, builds string
		told             string // by requests about the follow-up
	}{
		{"on a reading", "b = x\nprint(b)", "agreed()", "", "", "depends on a reading", "depends on a reading", "- some: 2"},
		{"on another derivation", "b = x\nprint(b)", "w = 7\nw", "", "", "not verified", "not verified",
			"gave another answer, 7"},
		{"on nothing", "b = 1\nprint(b)", "w = 7\nw", "\nTakes: 0", "", "not verified", "verified", "gave another answer, 7"},
		{"from the data, and the point is open", "b = 1\nprint(b)", "agreed()", "\nTakes: 1", "z = 2\nz",
			"depends on a reading", "depends on a reading", "- some: 2"},
		{"from the data, and the judge does not say", "b = 1\nprint(b)", "agreed()", "", "z = 2\nz",
			"depends on a reading", "depends on a reading", "- some: 2"},
		{"from the data, and it changes nothing", "b = 1\nprint(b)", "agreed()", "\nTakes: 1", "z = 1\nz",
			"depends on a reading", "verified", "- some: 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := play(t, simple.with(script{"solver round 1": reads(isOpen), "branches": branches("z = 2\nz"),
				"second": c.second, "arbiter": "Ruling: undecided\nReason: who knows"})).noError(t)
			tr := readAgain(t, first.Trajectory)
			if tr.Standing() != c.standing || tr.Ask("And now?", "") != nil {
				t.Fatalf("%s: %q", tr.Standing(), tr.Doubts())
			}
			p := goOn(t, script{"step": "On.", "cell": c.cell, "last": "print(b)", "verdict": yes + c.takes, "second": "agreed()",
				"branches": strings.Replace(branches(c.branch), "Keeps: 2", "Keeps: 0", 1)}, tr).noError(t)
			if p.Standing() != c.builds || len(p.OpenReadings()) > 0 != (c.branch == "z = 2\nz") {
				t.Errorf("%s: %q", p.Standing(), p.Doubts())
			}
			contains(t, p.model.prompt(t, "solver round 2"), "Which of 1 count.", c.told)
			contains(t, p.model.prompt(t, "second the answer to question 2"), "Which of 1 count.", c.told)
		})
	}
}

// TestReshown: outputs that a person has cleared or changed are replaced, and withdraw nothing.
func TestReshown(t *testing.T) {
	follow := script{"step": "On.", "cell": "b = x\nprint(b)", "last": "print(b)", "verdict": yes, "second": "agreed()"}
	tr := play(t, simple).noError(t).Trajectory
	for _, outputs := range [][]notebook.Output{nil, {{Type: notebook.Stream, Name: "stdout", Text: "another\n"}}} {
		nb := record.Draw(tr)
		record.Key("k").Seal(nb)
		for i := range nb.Cells {
			if nb.Cells[i].Type == notebook.Code {
				nb.Cells[i].Outputs = outputs
			}
		}
		shown := must(record.Read(must(notebook.Read(bytes.NewReader(must(nb.Encode()))))))
		if err := shown.Ask("And now?", ""); err != nil {
			t.Fatal(err)
		}
		p := goOn(t, follow, shown).noError(t)
		if !p.Verified() || !p.Part(0).Verified() || len(p.Warnings) > 0 || p.Rounds[0].Attempts[0].Execution.Stdout() != "1\n" {
			t.Errorf("%q, %q, warnings %q", p.Part(0).Doubts(), p.Doubts(), p.Warnings)
		}
	}
}

// TestOverwritten: a later question that writes the file of an answer is told of, as long as it does.
func TestOverwritten(t *testing.T) {
	tr := next(t, play(t, saved, asksFile).noError(t).Trajectory)
	p := goOn(t, onward.with(script{"cell": "b = 2\nsave(out.csv, b)\nprint(b)"}), tr).noError(t)
	p.warned(t, "out.csv")
	goOn(t, more, must(edited(t, p.Trajectory, source("step-2", "out.csv", "other.csv")))).noError(t).warned(t, "")
}

// TestNotes: a note has the questions judged and derived again from where it stands on, and a note
// that is removed all of them. What was chosen with that is open again.
func TestNotes(t *testing.T) {
	follow := script{"step": "On.", "cell": "b = 5\nprint(b)", "last": "print(b)", "verdict": yes, "second": "agreed()",
		"branches": branches("z = 2\nz")}
	tr := play(t, simple.with(follow).with(script{"solver round 1": reads(isOpen), "last": "print(x)"})).noError(t).Trajectory
	agent.Choose(tr, 0, 0, 0)
	tr = goOn(t, follow, tr).noError(t).Trajectory
	if err := tr.Ask("And now?", ""); err != nil || !tr.Part(0).Verified() {
		t.Fatal(err, tr.Part(0).Doubts())
	}
	tr = goOn(t, follow, tr).noError(t).Trajectory
	for _, c := range []struct {
		name      string
		edit      func(reporter, *notebook.Notebook)
		judged    int
		standings string
	}{
		{"above all", insert("question", note("Mind.")), 2, "verified, verified"},
		{"below the first", insert("answer", note("Mind.")), 2, "verified, verified"},
		{"below the last", insert("answer-2", note("Mind.")), 1, "verified, verified"},
		{"removed", remove("note-1"), 2, "depends on a reading, depends on a reading"},
		{"a remark", insert("answer", notebook.Cell{ID: "own", Type: notebook.Markdown, Source: "Mind."}), 0,
			"verified, verified"},
	} {
		p := goOn(t, follow, must(edited(t, tr, c.edit))).noError(t)
		if n := p.model.count("judge"); n != c.judged || p.model.count("second") != n {
			t.Errorf("%s: asked %q", c.name, p.model.asked)
		}
		if got := p.Part(0).Standing() + ", " + p.Standing(); got != c.standings {
			t.Errorf("%s: %s; %q, %q", c.name, got, p.Part(0).Doubts(), p.Doubts())
		}
	}
}

package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/record"
)

// TestAsk: another question goes on in the same session, and the notebook grows a second part.
func TestAsk(t *testing.T) {
	once(t)
	before := &recorder{}
	tr := readAgain(t, play(t, three, before.record).noError(t).Trajectory)
	if err := tr.Ask("And now?", "A word."); err != nil {
		t.Fatal(err)
	}
	replies := script{
		"step round 4": "Four.", "cell round 4": "v = z\nv += \"4\"\nprint(v)",
		"verdict round 4": bad, "wrong round 4": "1",
		"step round 5": "Five.", "cell round 5": "v = z\nv += \"5\"\nprint(v)",
		"verdict round 5": yes, "last": "print(v)", "second": "agreed()",
	}
	r := &recorder{}
	second := goOn(t, replies, tr, r.record).noError(t)
	if second.Answer() != "1235" || !second.Verified() || second.Steps() != 1 {
		t.Errorf("answer %q, %q", second.Answer(), second.Doubts())
	}
	prompt := second.model.prompt(t, "solver round 4")
	nb := readNotebook(t, second.Trajectory)
	top := nb.Cells[cellOf(t, nb, "question-2")].Source
	contains(t, prompt, "# Question\n\nAnd now?", "Question 1: How many?", "Step 3: Three.", "123")
	contains(t, top, "# And now?", "1235", "Verified")
	equal(t, "cells", second.Cells()[2:],
		append(tr.Cells()[2:6:6], "v = z\nv += \"5\"\nprint(v)", "print(v)"))
	for _, m := range r.all {
		if m.notebook != nil {
			got := goOn(t, replies, reread(t, m.notebook), func(s *stage) {
				s.config.Answered = slices.Concat(before.last.answered, m.answered)
			}).noError(t)
			if diff := cmp.Diff(second.Trajectory, got.Trajectory, same); diff != "" {
				t.Errorf("after %s (-whole +resumed)\n%s", m.what, diff)
			}
		}
	}
	if err := second.Ask("?", ""); err != nil {
		t.Error(err)
	}
	err := second.Ask("??", "")
	if err != nil || len(second.Earlier) != 2 || second.Task.Question != "??" {
		t.Errorf("a question for which nothing was done is not replaced: %v, %+v", err, second.Task)
	}
	if err := (&record.Trajectory{Rounds: make([]record.Round, 1)}).Ask("??", ""); err == nil {
		t.Error("a question was asked before the first was answered")
	}
}

// A cell of an earlier question can be changed and removed, and the data folder be another: all
// after it runs again.
func TestResumeEarlierEdit(t *testing.T) {
	tr := play(t, three).noError(t).Trajectory
	if err := tr.Ask("And now?", ""); err != nil {
		t.Fatal(err)
	}
	replies := more.with(script{"cell": "v = z\nv += \"4\"\nprint(v)", "last": "print(v)"})
	second := goOn(t, replies, tr).noError(t).Trajectory

	change := all(source("step-1", "1", "7"), source("final", "print(z)", "z += \"!\"\nprint(z)"))
	end := goOn(t, more, must(edited(t, second, change))).noError(t)
	if end.Answer() != "723!4" || end.Verified() || end.Earlier[0].Final.Answer != "723!" ||
		end.Earlier[0].Proof != nil {
		t.Errorf("answer %q, before it %+v", end.Answer(), end.Earlier[0].Final)
	}
	contains(t, record.Draw(end.Trajectory).Cells[0].Source, "Not verified", "723!")

	change = all(source("step-2", "y = x", "y = x\nz = y"), source("final", "print(z)", "print(y)"),
		remove("round-3", "step-3"))
	end = goOn(t, more, must(edited(t, second, change))).noError(t)
	if end.Answer() != "14" || end.Verified() || len(end.Cells()) != 7 {
		t.Errorf("answer %q, cells %q", end.Answer(), end.Cells())
	}

	change = source("step-1", "x = 1", "nothing_like_it")
	goOn(t, more, must(edited(t, second, change))).refused(t, "an earlier question fails: NameError")

	replies = more.with(script{"analyzer": `print("another table")`})
	end = goOn(t, replies, must(edited(t, second, source("parameters", "/data", "/other")))).noError(t)
	if end.Task.Data != "/other" || !end.Verified() || !strings.Contains(end.Cells()[0], "How many?") {
		t.Errorf("%q, verified %v", end.Cells()[0], end.Verified())
	}
}

// TestAskInherits: a follow-up that builds on an answer is worth no more than that, and its requests
// say what that is worth; one that builds on nothing of it is on its own.
func TestAskInherits(t *testing.T) {
	for _, c := range []struct {
		name, cell       string
		second           string // of the first question
		standing, builds string
		told             string // by requests about the follow-up
	}{
		{"on a reading", "b = x\nprint(b)", "agreed()", "depends on a reading", "depends on a reading",
			"- some: 2"},
		{"on another derivation", "b = x\nprint(b)", "w = 7\nw", "not verified", "not verified",
			"gave another answer, 7"},
		{"on nothing", "b = 1\nprint(b)", "w = 7\nw", "not verified", "verified", "gave another answer, 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := play(t, simple.with(script{"solver round 1": reads(isOpen), "branches": branches("z = 2\nz"),
				"second": c.second, "arbiter": "Ruling: undecided\nReason: who knows"})).noError(t)
			tr := readAgain(t, first.Trajectory)
			if tr.Standing() != c.standing || tr.Ask("And now?", "") != nil {
				t.Fatalf("%s: %q", tr.Standing(), tr.Doubts())
			}
			p := goOn(t, script{"step": "On.", "cell": c.cell, "last": "print(b)", "verdict": yes, "second": "agreed()"},
				tr).noError(t)
			if p.Standing() != c.builds {
				t.Errorf("%s: %q", p.Standing(), p.Doubts())
			}
			contains(t, p.model.prompt(t, "solver round 2"), "Which of 1 count.", c.told)
			contains(t, p.model.prompt(t, "second the answer"), "Which of 1 count.", c.told)
		})
	}
}

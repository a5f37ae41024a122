package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
)

// TestRetraced: a follow-up leaves the question before it as it was: what a person decided about its
// cells, also where the data have another path; the limits that it had; the answer of cells that print
// something else in every session; and what its functions are not.
func TestRetraced(t *testing.T) {
	next := func(tr *record.Trajectory) *record.Trajectory {
		if err := tr.Ask("And now?", ""); err != nil {
			t.Fatal(err)
		}
		return tr
	}
	by := (&critic{answers: map[string]agent.Decision{
		"round 1, try 1": {Choice: agent.Accept, Code: "x = 7\nprint(x)"}}}).join
	for name, c := range map[string]struct {
		first, then script
		with, after func(*stage)
		answer      string
		asked       int // in the follow-up
	}{
		"a review, with data elsewhere": {simple, onward, by, func(s *stage) { s.resume.Task.Data = "/tmp/../data" }, "7", 3},
		"fewer rounds": {three, onward.with(script{"cell": "v = z\nprint(v)", "last": "print(v)"}), func(*stage) {},
			func(s *stage) { s.config.MaxRounds = 1 }, "123", 3},
		"a time in a step": {three.with(script{"cell round 1": "x = 1\nt = tick()\nprint(t)"}),
			onward.with(script{"cell": "v = z\nprint(v)", "last": "print(v)"}), func(*stage) {}, func(*stage) {}, "123", 3},
		"functions that it does not use": {simple, onward.with(script{"cell": "b = tool\nprint(b)"}), recalled("tool = 1"),
			func(*stage) {}, "1", 3},
	} {
		p := play(t, c.first, c.with).noError(t)
		q := goOn(t, c.then, next(readAgain(t, p.Trajectory)), c.after).noError(t)
		if p.Answer() != c.answer || q.Part(0).Answer() != c.answer || q.Part(0).Standing() != p.Standing() ||
			len(q.model.asked) != c.asked || q.Answer() == "" {
			t.Errorf("%s: %q, then %q and %q, %q; asked %q", name, p.Answer(), q.Part(0).Answer(), q.Answer(),
				q.Part(0).Doubts(), q.model.asked)
		}
	}
}

// TestTakenAway: a last cell of a person's that they remove later, or whose step they drop, is not theirs any more.
func TestTakenAway(t *testing.T) {
	tr := goOn(t, more, must(edited(t, play(t, three).noError(t).Trajectory, source("final", "print(z)", "z += \"!\"\nprint(z)")))).
		noError(t).Trajectory
	p := goOn(t, more.with(script{"finalizer": "print(z)"}), must(edited(t, tr, remove("final")))).noError(t)
	if p.Final.ByHand || strings.Contains(strings.Join(p.Cells(), "\n"), "!") {
		t.Errorf("%+v", p.Final)
	}
	tr = readAgain(t, tr)
	if err := tr.Drop(3); err != nil || tr.Start.ByHand || tr.Start.Last != "" {
		t.Errorf("%v, %+v", err, tr.Start)
	}
}

// TestNoJournal: a record without a journal goes on from its cells, also if it is a stranger's.
func TestNoJournal(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		tr := readAgain(t, play(t, simple).noError(t).Trajectory)
		if tr.Journal = nil; theirs {
			tr.Disown()
		}
		p := goOn(t, simple, tr).noError(t)
		if p.Answer() != "1" || p.model.count("solver") > 0 || p.model.count("judge") != 1 || !p.Verified() {
			t.Errorf("%v: %q, asked %q", theirs, p.Answer(), p.model.asked)
		}
	}
}

// TestNoteForLater: a note for a later question is for it alone, also while an earlier one is in work.
func TestNoteForLater(t *testing.T) {
	tr := play(t, simple).noError(t).Trajectory
	if err := tr.Ask("And now?", ""); err != nil {
		t.Fatal(err)
	}
	tr = goOn(t, onward, tr).noError(t).Trajectory
	tr = goOn(t, onward, must(edited(t, tr, insert("answer-2", note("Mind."))))).noError(t).Trajectory
	stopped := errors.New("stopped")
	p := goOn(t, onward, must(edited(t, tr, source("step-1", "1", "7"))), func(s *stage) {
		s.model.before = func(context.Context, string) error { return stopped }
	})
	if again := readAgain(t, p.Trajectory); p.err == nil || len(again.Left) != 1 || again.Left[0].Part != 2 || len(again.Later) != 1 {
		t.Errorf("%v, left %v, %d later", p.err, again.Left, len(again.Later))
	}
}

package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

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

// TestMoreTime: a cell that ran for too long runs again if it has more time, and only then.
func TestMoreTime(t *testing.T) {
	p := play(t, simple.with(script{"cell": "hang()", "debugger": "x = 1\nprint(x)", "last": "print(x)"})).noError(t)
	for limit, again := range map[time.Duration]bool{0: false, time.Hour: true} {
		q := goOn(t, simple, readAgain(t, p.Trajectory), func(s *stage) { s.config.CellTimeout = limit })
		if slices.Contains(q.ranCells(), "hang()") != again {
			t.Errorf("with %s: ran %q", limit, q.ranCells())
		}
	}
}

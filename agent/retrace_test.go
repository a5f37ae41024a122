package agent_test

import (
	"context"
	"errors"
	"testing"
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

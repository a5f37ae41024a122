package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
)

// more is a model for runs that are resumed: it says yes to all.
var more = script{
	"verdict": yes, "second": "agreed()", "step": "More.",
	"cell": "y = x\ny += \"b\"\nprint(y)", "last": "print(y)",
}

// A second edit before the first is carried out loses nothing of it.
func TestEditTwice(t *testing.T) {
	p := play(t, three).noError(t)
	better := source("round-2", "Two.", "Two, but better.")
	t.Run("before the cell is written", func(t *testing.T) {
		tr := must(edited(t, must(edited(t, p.Trajectory, better)), insert("step-3", note("Mind."))))
		got := goOn(t, more, tr).noError(t)
		if !strings.Contains(got.Cells()[3], `"b"`) || got.Answer() != "1b3" {
			t.Errorf("answer %q, cells %q", got.Answer(), got.Cells()[2:])
		}
	})
	t.Run("while it is written", func(t *testing.T) {
		stopped := goOn(t, script{}, must(edited(t, p.Trajectory, better)))
		if stopped.err == nil {
			t.Fatal("the model has answered")
		}
		tr := must(edited(t, stopped.Trajectory, insert("data", note("Mind."))))
		got := goOn(t, more, tr).noError(t)
		if got.Answer() != "1b3" {
			t.Errorf("answer %q, cells %q", got.Answer(), got.Cells()[2:])
		}
	})
	t.Run("after a cell of the person's own has failed", func(t *testing.T) {
		failed := goOn(t, more, must(edited(t, p.Trajectory, source("step-2", "", "nothing_like_it\n"))))
		failed.refused(t, "step 2 fails")
		got := goOn(t, more, must(edited(t, failed.Trajectory, insert("step-3", note("Mind.")))))
		got.refused(t, "step 2 fails")
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// What a person wrote is never dropped because something before it fails.
func TestHandsOff(t *testing.T) {
	p := play(t, three).noError(t)
	keeps := func(t *testing.T, got *played, mine string) {
		t.Helper()
		got.refused(t, "")
		if cells := got.Cells(); !strings.Contains(strings.Join(cells, "\n"), mine) {
			t.Errorf("%q is lost: %q", mine, cells)
		}
	}
	t.Run("a changed step before it has no cell", func(t *testing.T) {
		tr := must(edited(t, p.Trajectory, all(source("round-2", "Two.", "Better."),
			source("step-3", "z = y", "z = x\nz += \"mine\""))))
		never := more.with(script{"cell": `raise KeyError("k")`, "debugger": `raise KeyError("k")`})
		got := goOn(t, never, tr)
		keeps(t, got, "mine")
		if end := goOn(t, more, readAgain(t, got.Trajectory)).noError(t); end.Answer() != "1mine3" {
			t.Errorf("in the end: %q, %q", end.Answer(), end.Cells()[2:])
		}
	})
	t.Run("a step before the last cell", func(t *testing.T) {
		tr := must(edited(t, p.Trajectory, source("final", "print(z)", "# mine\nprint(z)")))
		tr.Rounds[1].Attempts[0].Code = "nothing_like_it" // does not run a second time
		keeps(t, goOn(t, more, tr), "# mine")
	})
	t.Run("the data that the last cell was written for", func(t *testing.T) {
		mine := must(edited(t, p.Trajectory, source("final", "print(z)", "# mine\nprint(z)")))
		tr := readAgain(t, goOn(t, more, mine).noError(t).Trajectory)
		tr.Task.Files[0].Size++
		got := goOn(t, more.with(script{"analyzer": `print("as it is now")`}), tr).noError(t)
		if cells := strings.Join(got.Cells(), "\n"); !strings.Contains(cells, "# mine") || !got.Verified() {
			t.Errorf("%q, cells %q", got.Doubts(), cells)
		}
	})
	t.Run("an order in which they do not run", func(t *testing.T) {
		got := goOn(t, more, must(edited(t, p.Trajectory, move("step-1", "step-2"))))
		keeps(t, got, "y = x")
		if cells := got.Cells()[2:]; len(cells) != 4 || !strings.HasPrefix(cells[0], "y = x") {
			t.Errorf("the cells are %q", cells)
		}
	})
	t.Run("words in dsstar's own cells", func(t *testing.T) {
		tr := must(edited(t, p.Trajectory, all(source("verdict-2", "", "My own remark.\n\n"),
			source("step-3", `"3"`, `"4"`))))
		got := goOn(t, more, tr).noError(t)
		data := string(must(record.Draw(got.Trajectory).Encode()))
		if strings.Count(data, "My own remark.") != 1 || got.Answer() != "124" {
			t.Errorf("answer %q\n%s", got.Answer(), data)
		}
	})
}

// What ended a run is not in the way of going on with it.
func TestResumeDeadEnds(t *testing.T) {
	t.Run("before its end was saved", func(t *testing.T) {
		r := &recorder{}
		play(t, simple, r.record).noError(t)
		i := slices.IndexFunc(r.all, func(m moment) bool { return m.what == "event proved" })
		tr := reread(t, r.all[i].notebook)
		if record.Finished(tr, tr.Task.Files, 6) {
			t.Error("it has ended")
		}
		if got := goOn(t, script{}, tr).noError(t); got.Ask("?", "") != nil {
			t.Error("no other question can be asked")
		}
	})
	t.Run("no session for the proof", func(t *testing.T) {
		p := play(t, simple, func(s *stage) {
			s.world.open = func(_ context.Context, p agent.Purpose) error {
				if p == agent.Prove {
					return errors.New("no memory")
				}
				return nil
			}
		}).noError(t)
		if p.Verified() || record.Finished(p.Trajectory, p.Task.Files, 6) {
			t.Errorf("verified %v", p.Verified())
		}
		if got := goOn(t, script{}, p.Trajectory).noError(t); !got.Verified() {
			t.Errorf("%q", got.Doubts())
		}
	})
}

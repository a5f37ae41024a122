package rewind

import (
	"context"
	"errors"
	"slices"
	"testing"

	"dsstar/kernel"
	"dsstar/notebook"
)

// A player is a session of a fake kernel.
type player struct {
	*testing.T
	*Session
	fake *fake
}

func play(t *testing.T, branches bool) player {
	t.Helper()
	f := &fake{}
	return player{t, &Session{runs: f, way: notebook.ByCheckpoint, copies: &checkpoints{kernel: f}, branches: branches}, f}
}

// run runs cells and returns what the last one printed.
func (p player) run(cells ...string) (printed string) {
	p.Helper()
	for _, c := range cells {
		x, err := p.ExecuteCell(p.Context(), kernel.Cell{Code: c})
		if err != nil {
			p.Fatal(err)
		}
		printed = x.Stdout()
	}
	return printed
}

// back goes back and checks the way, how many cells did not run again, and why others did. It
// returns what the last cell printed.
func (p player) back(way notebook.Way, kept int, why string, cells ...string) (printed string) {
	p.Helper()
	back, err := p.Rollback(p.Context(), cells)
	if err != nil {
		p.Fatal(err)
	}
	demandWay(p, back, way, kept, why)
	if !slices.Equal(p.fake.state, cells) || len(back.Executions) != len(cells) {
		p.Fatalf("the kernel has run %q, want %q (%d executions)", p.fake.state, cells,
			len(back.Executions))
	}
	if len(cells) > 0 {
		printed = back.Executions[len(cells)-1].Stdout()
	}
	return printed
}

// From the copy of the empty session other cells run, in the same kernel unless that has ended.
func TestBack(t *testing.T) {
	p := play(t, false)
	p.run("a", "die")
	p.back(notebook.ByReplay, 0, "", "z")
	if p.fake.resets > 0 {
		t.Errorf("%d resets", p.fake.resets)
	}
	p.run("end")
	p.back(notebook.ByReplay, 0, "the kernel ended", "z")
}

// A rollback stops at the first cell that fails.
func TestBackToFailure(t *testing.T) {
	p := play(t, false)
	back, err := p.Rollback(t.Context(), []string{"a", "fail", "b"})
	if err != nil || len(back.Executions) != 2 || back.Executions[1].Status != notebook.Raised {
		t.Errorf("%v %+v", err, back)
	}
	p.back(notebook.ByCheckpoint, 1, "", "a", "b")
}

// With Branches, abandoned states can be restored, with the executions that led to them.
func TestBranches(t *testing.T) {
	p := play(t, true)
	p.run("base")
	printed := map[string]string{}
	for _, c := range []string{"x", "y", "z"} {
		p.back(notebook.ByCheckpoint, 1, "", "base")
		printed[c] = p.run(c)
	}
	for c, want := range printed {
		if got := p.back(notebook.ByCheckpoint, 2, "", "base", c); got != want {
			t.Errorf("%s printed %s, want %s", c, got, want)
		}
	}
	// Of two states with the same cells, the later one is restored.
	p.back(notebook.ByCheckpoint, 1, "", "base")
	want := p.run("x")
	if got := p.back(notebook.ByCheckpoint, 2, "", "base", "x"); got != want {
		t.Errorf("x printed %s, want %s", got, want)
	}
}

// A state that cannot be copied is replayed from the nearest one before it.
func TestRefused(t *testing.T) {
	p := play(t, false)
	p.run("a", "refuse", "fail")
	p.back(notebook.ByCheckpoint, 1, "refused for a reason", "a", "refuse")
	p.back(notebook.ByReplay, 0, "", "b")
}

// If copies can no longer be resumed, going back is a replay.
func TestLostCopies(t *testing.T) {
	p := play(t, false)
	p.run("a", "b", "fail")
	p.fake.lose = func(string) bool { return true }
	p.back(notebook.ByReplay, 0, "no such copy", "a", "b")
}

// A kernel that does not answer gets no more requests, and no more copies are made.
func TestSilent(t *testing.T) {
	for _, silence := range []int{0, 1} { // before Freeze or Resume
		p := play(t, false)
		p.run("a")
		p.fake.silent = silence == 0
		p.run("b")
		p.fake.silent = true
		p.back(notebook.ByReplay, 0, "did not answer", "a", "b")
		made := p.fake.made
		p.back(notebook.ByReplay, 0, "did not answer", "a", "b")
		if p.fake.made != made {
			t.Error("more copies were made")
		}
	}
}

// A cancelled call does not turn checkpoints off.
func TestCancelled(t *testing.T) {
	p := play(t, false)
	p.run("a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ExecuteCell(ctx, kernel.Cell{Code: "b"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.back(notebook.ByCheckpoint, 1, "", "a")
}

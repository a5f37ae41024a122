package rewind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/notebook"
)

// A player is a session whose cells have names.
type player struct {
	*testing.T
	*Session
}

func play(t *testing.T, branches bool) player {
	t.Helper()
	t.Parallel()
	o := freezing(t)
	o.back.Branches = branches
	return player{t, open(t, o)}
}

// acts are what some cells do, by their names.
var acts = map[string]string{"fail": "1 / 0", "die": "import os; os._exit(3)",
	"refuse": "import subprocess; p = subprocess.Popen(['sleep', '60'])"}

// codes returns cells that note their names in the session. One that runs again prints something else.
func codes(names ...string) (all []string) {
	for _, n := range names {
		all = append(all, "import uuid; ran = [*globals().get('ran', []), '"+n+
			"']; print(uuid.uuid4())\n"+acts[n])
	}
	return all
}

// run runs cells and returns what the last one printed.
func (p player) run(names ...string) (printed string) {
	p.Helper()
	for _, code := range codes(names...) {
		printed = must(p.Execute(p.Context(), code)).Stdout()
	}
	return printed
}

// back goes back as goBack does, and checks that these cells alone have run. It returns what the last
// one printed.
func (p player) back(way notebook.Way, kept int, why string, names ...string) (printed string) {
	p.Helper()
	back := goBack(p, p.Session, codes(names...), way, kept, why)
	x := must(p.Silently(p.Context(), "print(' '.join(ran), end='')", time.Minute))
	if want := strings.Join(names, " "); x.Stdout() != want || len(back.Executions) != len(names) {
		p.Fatalf("%q have run, want %q (%d executions)", x.Stdout(), want, len(back.Executions))
	}
	return back.Executions[len(names)-1].Stdout()
}

// A session goes back to the nearest frozen copy: in the same kernel unless that has ended, and to the
// first cell that fails. A state that cannot be copied is replayed from the one before it, and if
// copies can no longer be resumed, going back is a replay.
func TestBack(t *testing.T) {
	p := play(t, false)
	pid := p.Info().PID
	p.run("a", "die")
	p.back(notebook.ByReplay, 0, "", "z") // from the copy of the empty session
	back := must(p.Rollback(t.Context(), codes("a", "fail", "b")))
	if len(back.Executions) != 2 || back.Executions[1].Status != notebook.Raised {
		t.Errorf("%+v", back)
	}
	p.back(notebook.ByCheckpoint, 1, "", "a", "b")
	p.run("refuse", "fail")
	p.back(notebook.ByCheckpoint, 2, "sleep 60", "a", "b", "refuse")
	p.back(notebook.ByReplay, 0, "", "b")

	p.run("c")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Execute(ctx, "d"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := p.copies.kernel.freeze(ctx); err == nil {
		t.Error("frozen for a caller that has gone")
	}
	p.back(notebook.ByCheckpoint, 1, "", "b")
	if p.Info().PID != pid {
		t.Error("another kernel was started")
	}
	for _, m := range p.copies.all {
		check(t, p.copies.kernel.drop(t.Context(), m.id))
	}
	p.run("fail")
	p.back(notebook.ByReplay, 0, "there is no checkpoint", "b")
	ok(t, syscall.Kill(p.Info().PID, syscall.SIGKILL))
	p.run("a")
	p.back(notebook.ByReplay, 0, "the kernel died", "b")
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

// A kernel that does not answer gets no more requests, and no more copies are made.
func TestSilent(t *testing.T) {
	if *testTier == "full" {
		t.Skip("the front has another number inside")
	}
	for request, cells := range map[string][]string{"resume": {"a"}, "freeze": {"a", "b"}} {
		t.Run(request, func(t *testing.T) {
			p := play(t, false)
			p.run("a", "b")
			front := must(p.Silently(t.Context(), "print(__import__('os').getppid(), end='')", time.Minute))
			ok(t, syscall.Kill(must(strconv.Atoi(front.Stdout())), syscall.SIGSTOP))
			p.copies.kernel.patience = 500 * time.Millisecond
			for range 2 {
				p.back(notebook.ByReplay, 0, "did not answer", cells...)
			}
			for _, m := range p.copies.all {
				if m.id != "" {
					t.Error("more copies were made")
				}
			}
		})
	}
}

// The kernel gives up a copy, and copying files, before its client gives up the kernel.
func TestPatience(t *testing.T) {
	most := time.Duration(0)
	// Half of the first may pass before a copy gets "go".
	for file, share := range map[string]float64{"frozen.py": 1.5, "files.py": 1} {
		source := must(os.ReadFile("../undokernel/undokernel/" + file))
		_, after, _ := strings.Cut(string(source), "\nPATIENCE = ")
		seconds := 0.0
		_ = must(fmt.Sscan(after, &seconds))
		most += time.Duration(share * seconds * float64(time.Second))
	}
	if most >= patience {
		t.Errorf("the kernel gives up after %v, its client after %v", most, patience)
	}
}

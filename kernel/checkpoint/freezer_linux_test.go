package checkpoint

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/notebook"
)

// The kernel says why there is no copy, whether it is alive, and how much memory copies hold.
func TestFreeze(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.back.Off = true // cells alone make no copies
	k := open(t, o)
	u, err := newUndoer(k.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	runCell(t, k, "x = 1", notebook.OK)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, err := u.freeze(ctx); err == nil {
			t.Error("frozen for a caller that has gone")
		}
	}
	f, err := u.freeze(t.Context())
	if err != nil || f.id == "" || f.count != 1 || f.resident == 0 {
		t.Fatalf("%+v %v", f, err)
	}
	if held, available, err := u.memory(t.Context()); err != nil || held == 0 || available == 0 {
		t.Errorf("%d %d %v", held, available, err)
	}
	runCell(t, k, "import subprocess; p = subprocess.Popen(['sleep', '60'])", notebook.OK)
	if _, err := u.freeze(t.Context()); err == nil || !strings.Contains(err.Error(), "sleep 60") {
		t.Error(err)
	}
	if n, err := u.resume(t.Context(), f.id); err != nil || n != 1 {
		t.Error(n, err)
	}
	prints(t, k, "x, 'p' in globals()", "1 False")
	if err := u.drop(t.Context(), f.id); err != nil {
		t.Error(err)
	}
	if _, err := u.resume(t.Context(), f.id); err == nil {
		t.Error("a copy was resumed that was dropped")
	}
	if *testTier == "full" {
		return // the front has another number inside
	}
	var list struct{ Front struct{ PID int } }
	if err := u.ask(t.Context(), "undokernel_checkpoints_request", struct{}{}, &list); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(list.Front.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	u.patience = 500 * time.Millisecond
	if _, err := u.freeze(t.Context()); !errors.Is(err, errSilent) {
		t.Error(err)
	}
	if err := k.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(k.Info().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := u.freeze(t.Context()); err == nil || !strings.Contains(err.Error(), "the kernel died") {
		t.Error(err)
	}
}

// The kernel gives up a copy before its client gives up the kernel.
func TestPatience(t *testing.T) {
	source, err := os.ReadFile("../undokernel/undokernel/frozen.py")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^PATIENCE = ([\d.]+)`).FindSubmatch(source)
	if m == nil {
		t.Fatal("frozen.py has no PATIENCE")
	}
	seconds, err := strconv.ParseFloat(string(m[1]), 64)
	// Half of it may pass before a copy gets "go".
	if most := time.Duration(1.5 * seconds * float64(time.Second)); err != nil ||
		most >= patience {
		t.Errorf("the kernel gives up after %v, its client after %v (%v)", most, patience,
			err)
	}
}

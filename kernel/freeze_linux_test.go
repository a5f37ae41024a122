package kernel

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/notebook"
)

// freezingOptions returns options for a kernel that freezes copies of itself.
func freezingOptions(t testing.TB) Options {
	o := options(t)
	o.Spec = checkpointSpec(t, testPython(t))
	return o
}

// The kernel says why there is no copy, whether it is alive, and how much memory copies hold.
func TestFreeze(t *testing.T) {
	t.Parallel()
	k := open(t, freezingOptions(t))
	runCell(t, k, "x = 1", notebook.OK)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, err := k.Freeze(ctx); err == nil {
			t.Error("frozen for a caller that has gone")
		}
	}
	f, err := k.Freeze(t.Context())
	if err != nil || f.ID == "" || f.Count != 1 || f.Resident == 0 {
		t.Fatalf("%+v %v", f, err)
	}
	if held, available, err := k.Memory(t.Context()); err != nil || held == 0 || available == 0 {
		t.Errorf("%d %d %v", held, available, err)
	}
	runCell(t, k, "import subprocess; p = subprocess.Popen(['sleep', '60'])", notebook.OK)
	if _, err := k.Freeze(t.Context()); err == nil || !strings.Contains(err.Error(), "sleep 60") {
		t.Error(err)
	}
	if n, err := k.Resume(t.Context(), f.ID); err != nil || n != 1 {
		t.Error(n, err)
	}
	prints(t, k, "x, 'p' in globals()", "1 False")
	if err := k.Drop(t.Context(), f.ID); err != nil {
		t.Error(err)
	}
	if _, err := k.Resume(t.Context(), f.ID); err == nil {
		t.Error("a copy was resumed that was dropped")
	}
	if err := syscall.Kill(frontOf(t, k), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	k.current().waits.frozen = 500 * time.Millisecond
	if _, err := k.Freeze(t.Context()); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
	if err := k.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(k.Info().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-k.current().host.gone()
	if _, err := k.Freeze(t.Context()); !errors.Is(err, errEnded) {
		t.Error(err)
	}
}

// TestCheckpointDiesLater: a death between two cells is reported with the next one, and the session
// can go back.
func TestCheckpointDiesLater(t *testing.T) {
	t.Parallel()
	o := freezingOptions(t)
	o.KeepIn = t.TempDir()
	k := open(t, o)
	runCell(t, k, "x = 1", notebook.OK)
	copied, err := k.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runCell(t, k, "import os, signal; signal.signal(signal.SIGALRM, lambda *_: os._exit(3))",
		notebook.OK)
	live := request(t, k, "undokernel_checkpoints_request", struct{}{}).Live.PID
	if err := syscall.Kill(live, syscall.SIGALRM); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); syscall.Kill(live,
		0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the process that runs cells does not end")
		}
	}
	if x := runCell(t, k, "x", notebook.Died); x.Reason != "the kernel died: exit status 3" ||
		len(x.Outputs) > 0 || k.Alive() {
		t.Errorf("%+v, alive %v", x, k.Alive())
	}
	if count, err := k.Resume(t.Context(), copied.ID); err != nil || count != copied.Count ||
		!k.Alive() {
		t.Errorf("%d %v", count, err)
	}
	prints(t, k, "x", "1")
	runCell(t, k, "import os; os._exit(4)", notebook.Died)
	if err := k.Leave(""); err == nil ||
		!strings.Contains(err.Error(), "the kernel has ended: exit status 4") {
		t.Error(err)
	}
}

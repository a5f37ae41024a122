package kernel

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

// brisk waits are for faults, which would take a minute to watch otherwise.
func brisk() waits {
	w := defaultWaits()
	w.greet, w.rouse, w.takeUp = 200*time.Millisecond, 300*time.Millisecond, 2*time.Second
	w.idle, w.interrupt, w.cancel = 500*time.Millisecond, 500*time.Millisecond, 500*time.Millisecond
	return w
}

func faulty(t testing.TB, f kerneltest.Fault) Options {
	return Options{
		Spec: Spec{Name: "fake", Argv: kerneltest.Argv(f)}, Dir: t.TempDir(), Env: os.Environ(),
		CellTimeout: time.Second, StartTimeout: 5 * time.Second,
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault      kerneltest.Fault
		code       string
		status     notebook.Status
		text       string // of stdout
		incomplete bool
		slow       time.Duration // how long it may take
	}{
		{kerneltest.None, `print("x")`, notebook.OK, "x\n", false, time.Second},
		{kerneltest.None, `raise`, notebook.Raised, "", false, time.Second},
		{kerneltest.NoWelcome, `print("x")`, notebook.OK, "x\n", false, time.Second},
		{kerneltest.ReplyFirst, `print("x")`, notebook.OK, "x\n", false, time.Second},
		{kerneltest.IdleFirst, `print("x")`, notebook.OK, "x\n", false, time.Second},
		{kerneltest.LostIdle, `print("x")`, notebook.OK, "x\n", true, 2 * time.Second},
		{kerneltest.ForgedIdle, `raise`, notebook.Raised, "", true, 2 * time.Second},
		{kerneltest.LostReply, `print("x")`, notebook.OK, "x\n", true, 2 * time.Second},
		{kerneltest.LostReply, `raise`, notebook.Raised, "", true, 2 * time.Second},
		{kerneltest.Garbage, `print("x")`, notebook.OK, "x\n", false, time.Second},
		{kerneltest.Strange, `print("x")`, notebook.OK, "x\n", true, time.Second},
		{kerneltest.Stranded, `print("x")`, notebook.OK, "x\n", false, time.Second},
		{kerneltest.Aborts, `print("x")`, notebook.OK, "x\n", false, time.Second},
		{kerneltest.HangsUp, `print("x")`, notebook.Died, "", false, 3 * time.Second},
		{kerneltest.Forgets, `print("x")`, notebook.TimedOut, "", false, 4 * time.Second},
		{kerneltest.Deaf, `sleep`, notebook.TimedOut, "", false, 3 * time.Second},
	} {
		t.Run(string(c.fault)+"/"+c.code, func(t *testing.T) {
			t.Cleanup(func() { goleak.VerifyNone(t) })
			k := openWith(t, faulty(t, c.fault), brisk())
			start := time.Now()
			for range 2 {
				x := runCell(t, k, c.code, c.status)
				if got := x.Stdout(); got != c.text {
					t.Errorf("stdout %q, want %q", got, c.text)
				}
				if got := strings.Contains(x.PlainText(), "dsstar: output may be incomplete: "); got != c.incomplete {
					t.Errorf("incomplete: %v, want %v\n%s", got, c.incomplete, x.PlainText())
				}
				if !k.Alive() {
					break
				}
			}
			if took := time.Since(start); took > 2*c.slow {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestStartFaults(t *testing.T) {
	for fault, want := range map[kerneltest.Fault]string{
		kerneltest.DiesAtStart:  "exit status 1; its stderr ends with:\nfake kernel: no module named ipykernel",
		kerneltest.NeverBinds:   "not ready in time: 500ms",
		kerneltest.NeverGreets:  "not ready in time: 500ms",
		kerneltest.NeverReplies: "not ready in time: 500ms",
	} {
		t.Run(string(fault), func(t *testing.T) {
			defer goleak.VerifyNone(t)
			o := faulty(t, fault)
			if fault != kerneltest.DiesAtStart {
				o.StartTimeout = 500 * time.Millisecond
			}
			begun := time.Now()
			_, err := start(t.Context(), o, brisk())
			if err == nil || !strings.HasPrefix(err.Error(), "start kernel fake: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestStartCancelled(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := start(ctx, faulty(t, kerneltest.NeverReplies), brisk()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// A kernel that does not shut down when asked is killed all the same.
func TestCloseDeaf(t *testing.T) {
	defer goleak.VerifyNone(t)
	k := openWith(t, faulty(t, kerneltest.Deaf), brisk())
	start := time.Now()
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second || k.Alive() {
		t.Errorf("took %v, alive: %v", took, k.Alive())
	}
}

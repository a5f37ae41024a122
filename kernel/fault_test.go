package kernel

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

// brisk returns short waits, as some faults take a minute to notice otherwise.
func brisk() waits {
	w := defaultWaits()
	w.greet, w.rouse, w.takeUp = 200*time.Millisecond, 300*time.Millisecond, 2*time.Second
	w.idle, w.interrupt, w.cancel = 2*time.Second, 500*time.Millisecond, 500*time.Millisecond
	w.shutdown = 200 * time.Millisecond
	return w
}

func faulty(t testing.TB, f kerneltest.Fault) Options {
	return Options{
		Spec: Spec{Name: "fake", Argv: kerneltest.Argv(f)}, Dir: t.TempDir(), Env: os.Environ(),
		CellTimeout: time.Minute, StartTimeout: time.Minute, sockets: true, waits: brisk(),
	}
}

// A faultCase is the expected execution of a cell on a kernel with a fault.
type faultCase struct {
	fault      kerneltest.Fault
	code       string
	status     notebook.Status
	text       string // of stdout
	incomplete bool
}

var faultCases = []faultCase{
	{kerneltest.None, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.None, `raise`, notebook.Raised, "", false},
	{kerneltest.None, "print(\"x\")\nflood 3000", notebook.OK, "x\n", false},
	{kerneltest.SlowStart, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.NoWelcome, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.ReplyFirst, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.IdleFirst, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.LostIdle, `print("x")`, notebook.OK, "x\n", true},
	{kerneltest.LostReply, `print("x")`, notebook.OK, "x\n", true},
	{kerneltest.LostReply, `raise`, notebook.Raised, "", true},
	{kerneltest.Strange, `print("x")`, notebook.OK, "x\n", true},
	{kerneltest.NullDates, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.Echoes, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.Stranded, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.Aborts, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.Late, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.NoShutdownReply, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.Forgets, `print("x")`, notebook.TimedOut, "", false},
	{kerneltest.Deaf, `sleep`, notebook.TimedOut, "", false},
	{kerneltest.None, `sleep`, notebook.TimedOut, "", false},
	{kerneltest.None, "print(\"x\")\ndie", notebook.Died, "x\ndying\n", false},
	{kerneltest.None, "print(\"x\")\nkill", notebook.Died, "x\ndying\n", false},
	{kerneltest.ForgedIdle, `raise`, notebook.Raised, "", true},
	{kerneltest.Garbage, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.Duplicates, `print("x")`, notebook.OK, "x\n", false},
	{kerneltest.NoControl, `print("x")`, notebook.OK, "x\n", false},
}

func TestFaults(t *testing.T) {
	for _, way := range []string{"ipc", "tcp"} {
		for _, c := range faultCases {
			if way == "tcp" && c.fault != kerneltest.None {
				continue // faults do not depend on the transport
			}
			t.Run(way+"/"+string(c.fault)+"/"+c.code, func(t *testing.T) {
				t.Parallel()
				// deadlines are short only where the case waits for them to pass
				o := faulty(t, c.fault)
				if o.sockets = way == "ipc"; c.incomplete {
					o.waits.idle = 100 * time.Millisecond
				}
				if c.status == notebook.TimedOut {
					o.CellTimeout, o.waits.interrupt = 200*time.Millisecond, 200*time.Millisecond
				}
				k := open(t, o)
				c.run(t, k)
				check(t, k.Close())
				gone(t, k.Info().PID)
			})
		}
	}
}

func (c faultCase) run(t *testing.T, k *Kernel) {
	for range 2 {
		x := runCell(t, k, c.code, c.status)
		// Late output is part of the cell if the cell's last messages come later still.
		if got := x.Stdout(); got != c.text && !(c.fault == kerneltest.Late && got == c.text+"late\n") {
			t.Errorf("stdout %q, want %q", got, c.text)
		}
		if got := strings.Contains(x.PlainText(),
			"note: output may be incomplete: "); got != c.incomplete || got != (x.Incomplete != "") {
			t.Errorf("incomplete: %v (%q), want %v\n%s", got, x.Incomplete, c.incomplete, x.PlainText())
		}
		if _, want, ok := strings.Cut(c.code, "flood "); ok && fmt.Sprint(len(x.Outputs)-1) != want {
			t.Errorf("%d displays, want %s", len(x.Outputs)-1, want)
		}
		if !k.Alive() {
			break
		}
	}
}

func TestStartFaults(t *testing.T) {
	for _, argv := range [][]string{{"sleep", "60"}, kerneltest.Argv(kerneltest.NeverGreets),
		kerneltest.Argv(kerneltest.NeverReplies)} {
		t.Run(argv[len(argv)-2], func(t *testing.T) {
			defer goleak.VerifyNone(t)
			o := faulty(t, kerneltest.None)
			o.Spec.Argv = argv
			o.StartTimeout = 500 * time.Millisecond
			_, err := Start(t.Context(), o)
			fails(t, err, errNotReady, "start kernel fake: ")
			o.StartTimeout = time.Minute
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err = Start(ctx, o)
			fails(t, err, context.DeadlineExceeded)
		})
	}
}

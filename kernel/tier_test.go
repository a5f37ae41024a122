package kernel

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

var testTier = flag.String("tier", "", "run every kernel with checkpoints in this tier of the sandbox; \"\": a few in builtin, the others in none")

// confine puts the kernel of o into a tier, or skips the test where there is none.
func confine(t testing.TB, o *Options, tier string) {
	t.Helper()
	if _, _, err := sandbox.Choose(tier); err != nil {
		if required(tier) {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	box := sandbox.Box{
		Tier: sandbox.Tier(tier), Write: append(o.Sandbox.Write, o.Dir),
		Env:    []string{"DSSTAR_FOLDER", "DSSTAR_DIGESTS", "DSSTAR_KERNEL_WITHOUT", "PYTHONHASHSEED"},
		Limits: sandbox.Limits{Memory: 6 << 30, File: 2 << 30, Folder: 8 << 30}, // that of processes depends on what else runs
	}
	o.Sandbox = box
}

// everyFifth puts every fifth session into the sandbox builtin, or all into that of -tier.
func everyFifth(t testing.TB, seed uint64) func(*Options) {
	return func(o *Options) {
		switch {
		case *testTier != "":
			confine(t, o, *testTier)
		case seed%5 == 0:
			confine(t, o, "builtin")
		}
	}
}

// frontOf is the process of a kernel with checkpoints that never runs cells; in a sandbox a guard has started it.
func frontOf(t testing.TB, k *Kernel) int {
	t.Helper()
	if k.options.Sandbox.Tier == sandbox.Full {
		t.Skip("in full it has another number inside")
	}
	return request(t, k, "checkpoints_request", struct{}{}).Front.PID
}

// forbidden are hazards that no cell can make in the sandbox builtin.
var forbidden = map[string]string{
	"device": "no such devices", "device node": "no /dev/shm", "processes": "no semaphores", "semaphore": "no semaphores", "shared memory": "no /dev/shm",
}

// In the sandbox builtin, where /proc is hidden, checkpoints are made, refused and gone back to as anywhere: what a copy
// would lack is found by every kind of file that the guard opens for the kernel.
func TestCheckpointBuiltin(t *testing.T) {
	o := Options{Spec: checkpointSpec(t, testPython(t)), Dir: t.TempDir(), Env: os.Environ()}
	o.Scratch = o.Dir
	confine(t, &o, "builtin")
	k := open(t, o)
	k.way = replay{}
	if x := runCell(t, k, "open('/proc/1/stat')", notebook.Raised); !strings.Contains(x.PlainText(), "PermissionError") {
		t.Errorf("others can be seen: %s", x.PlainText())
	}
	some := []string{
		"lists", "offset", "read map", "blas", "openmp", // a thread's name, work, call and stack
		"thread", "subprocess", "unwaited", "daemon", "socket", "pipe", "memory map", "flock", "sqlite wal",
	}
	of := func(h hazard) bool {
		return slices.ContainsFunc(some, func(name string) bool { return hazards[name] == h })
	}
	tryHazards(t, k, time.Minute, of, func(t *testing.T, want, got string) {
		if got != want {
			t.Errorf("after going back: %s, want %s", got, want)
		}
	})
	checkpoint(t, k)
	if list := request(t, k, "checkpoints_request", struct{}{}); len(list.Checkpoints) == 0 || list.Checkpoints[0].Bytes == 0 || list.Front.Bytes == 0 || list.Live.Bytes == 0 {
		t.Errorf("processes cannot be measured: %+v", list)
	}
}

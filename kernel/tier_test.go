package kernel

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

var testTier = flag.String("tier", "",
	"run every kernel with checkpoints in this tier of the sandbox; \"\": a few in builtin, the others in none")

// frontOf is the process of a kernel with checkpoints that never runs cells; in a sandbox a guard
// has started it.
func frontOf(t testing.TB, k *Kernel) int {
	t.Helper()
	if k.options.Sandbox.Tier == sandbox.Full {
		t.Skip("in full it has another number inside")
	}
	return request(t, k, "checkpoints_request", struct{}{}).Front.PID
}

// forbidden are hazards that no cell can make in the sandbox builtin.
var forbidden = map[string]string{
	"device": "no such devices", "device node": "no /dev/shm", "processes": "no semaphores",
	"semaphore": "no semaphores", "shared memory": "no /dev/shm",
}

// In the sandbox builtin, where /proc is hidden, checkpoints are made, refused and gone back to as
// anywhere: what a copy would lack is found by every kind of file that the guard opens for the
// kernel.
func TestCheckpointBuiltin(t *testing.T) {
	t.Parallel()
	o := Options{Spec: checkpointSpec(t, testPython(t)), Dir: t.TempDir(), Env: os.Environ()}
	o.Scratch = o.Dir
	kerneltest.Confine(t, &o.Sandbox, "builtin", o.Dir)
	k := open(t, o)
	if x := runCell(t, k, "open('/proc/1/stat')", notebook.Raised); !strings.Contains(x.PlainText(),
		"PermissionError") {
		t.Errorf("others can be seen: %s", x.PlainText())
	}
	some := []string{
		"lists", "offset", "read map", "blas", "openmp", // a thread's name, work, call and stack
		"thread", "subprocess", "unwaited", "daemon", "socket", "pipe", "memory map", "flock",
		"sqlite wal",
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
	if list := request(t, k, "checkpoints_request", struct{}{}); len(list.Checkpoints) == 0 ||
		list.Checkpoints[0].Bytes == 0 || list.Front.Bytes == 0 || list.Live.Bytes == 0 {
		t.Errorf("processes cannot be measured: %+v", list)
	}
}

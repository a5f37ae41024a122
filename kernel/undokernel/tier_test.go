package undokernel_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

// frontOf returns the front of a kernel with checkpoints, the process that never runs cells; in a
// sandbox the guard has started it.
func frontOf(t testing.TB, k *kernel.Kernel) int {
	t.Helper()
	if *testTier == "full" {
		t.Skip("in full it has another number inside")
	}
	return request(t, k, "undokernel_checkpoints_request", struct{}{}).Front.PID
}

// forbidden are hazards that no cell can cause in the builtin sandbox.
var forbidden = map[string]string{
	"device": "no such devices", "device node": "no /dev/shm", "processes": "no semaphores",
	"semaphore": "no semaphores", "shared memory": "no /dev/shm",
}

// In the builtin sandbox, which hides /proc, checkpoints are made, refused and restored as
// elsewhere: the guard opens the files of /proc that the kernel needs to find what a copy would
// lack.
func TestCheckpointBuiltin(t *testing.T) {
	t.Parallel()
	o := kernel.Options{Spec: checkpointSpec(t, testPython(t)), Dir: t.TempDir(), Env: os.Environ()}
	o.Scratch = o.Dir
	o.Sandbox = kerneltest.Confine(t, "builtin", o.Dir)
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
	if list := request(t, k, "undokernel_checkpoints_request", struct{}{}); len(list.Checkpoints) == 0 ||
		list.Checkpoints[0].Bytes == 0 || list.Front.Bytes == 0 || list.Live.Bytes == 0 {
		t.Errorf("processes cannot be measured: %+v", list)
	}
}

//go:build linux

package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"dsstar/notebook"
)

// TestFront runs the tests of the Python package that do not need a kernel.
func TestFront(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), testPython(t), "-B", filepath.Join("testdata", "front.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(here, checkpointModule))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The kernel gives up a copy before its client gives up the kernel.
func TestPatience(t *testing.T) {
	source, err := checkpointFiles.ReadFile(checkpointModule + "/frozen.py")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^PATIENCE = ([\d.]+)`).FindSubmatch(source)
	if m == nil {
		t.Fatal("frozen.py has no PATIENCE")
	}
	seconds, err := strconv.ParseFloat(string(m[1]), 64)
	// Half of it may pass before a copy gets "go".
	if kernel := time.Duration(1.5 * seconds * float64(time.Second)); err != nil ||
		kernel >= defaultWaits().frozen {
		t.Errorf("the kernel gives up after %v, its client after %v (%v)", kernel, defaultWaits().frozen,
			err)
	}
}

// TestFrontOutlives: neither malformed messages nor any kind of end of a worker end the front,
// which has the checkpoints.
func TestFrontOutlives(t *testing.T) {
	t.Parallel()
	k := openCheckpoints(t, testPython(t))
	runCell(t, k, "x = 1", notebook.OK)
	id := checkpoint(t, k)
	for _, kind := range []string{"shutdown_request", "undokernel_checkpoint_request", "undokernel_drop_request",
		"undokernel_rollback_request", "of_no_kind", ""} {
		k.current().tell(Control, kind, []int{1})
		k.current().tell(Shell, kind, []int{1})
	}
	prints(t, k, "x", "1")
	nonsense := "import gc\nfrom undokernel.channel import Channel\n" +
		"for c in gc.get_objects():\n    if isinstance(c, Channel): c.send(b'text', b'stdout', b'{', b'no header')"
	runCell(t, k, nonsense, notebook.OK)
	prints(t, k, "x", "1")
	for _, code := range []string{
		"import os; os.kill(os.getpid(), 40)",
		"import os; os.kill(os.getpid(), 64)",
	} {
		runCell(t, k, code, notebook.Died)
		rollBack(t, k, id)
		prints(t, k, "x", "1")
	}
	// A process that a cell has forked and left does not answer requests.
	runCell(t, k, "import os\nif os.fork() == 0: print('child')", notebook.OK)
	for range 5 {
		prints(t, k, "x", "1")
	}
}

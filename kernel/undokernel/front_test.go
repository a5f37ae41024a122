//go:build linux

package undokernel_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/notebook"
)

// send sends a malformed message, and does not wait for a reply.
func send(t testing.TB, k *kernel.Kernel, c kernel.Channel, kind string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _ = k.Request(ctx, kernel.Message{Channel: c, Header: kernel.Header{MsgType: kind},
		Content: json.RawMessage("[1]")})
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
		send(t, k, kernel.Control, kind)
		send(t, k, kernel.Shell, kind)
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

package undokernel_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

// floods sends requests to the kernel itself, as fast as it can, with all that a cell can know.
const floods = `import json, threading, zmq
from jupyter_client.session import Session
app = get_ipython().kernel.parent
try:
    key = json.load(open(app.connection_file))["key"].encode()
except OSError:
    key = app.session.key
def flood():
    session, socket = Session(key=key), zmq.Context().socket(zmq.DEALER)
    socket.connect(f"ipc://{app.ip}-{app.shell_port}" if app.transport == "ipc" else f"tcp://{app.ip}:{app.shell_port}")
    while True:
        session.send(socket, "execute_request", dict(code="forged = 1", silent=True, store_history=False,
            user_expressions={}, allow_stdin=False, stop_on_error=False))
threading.Thread(target=flood, daemon=True).start()
threading.Event().wait(0.3)`

// TestForgedRequests: no request of a cell reaches the kernel, by Unix sockets or TCP, neither the
// live session nor the one that is restored.
func TestForgedRequests(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"ipc", "tcp"} {
		o := options(t, testPython(t))
		if transport == "tcp" {
			box := kerneltest.Confine(t, "builtin", o.Dir)
			box.Net = true // without Unix sockets then
			o.Sandbox = box
		}
		k := open(t, o)
		prints(t, k, "get_ipython().kernel.parent.transport", transport)
		id := checkpoint(t, k)
		runCell(t, k, floods, notebook.OK)
		prints(t, k, "'forged' in globals()", "False")
		rollBack(t, k, id)
		prints(t, k, "'forged' in globals()", "False")
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
		for _, channel := range []kernel.Channel{kernel.Control, kernel.Shell} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // no reply may come
			_, _ = k.Request(ctx, kernel.Message{Channel: channel, Header: kernel.Header{MsgType: kind},
				Content: json.RawMessage("[1]")})
			cancel()
		}
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

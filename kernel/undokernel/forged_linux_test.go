package undokernel_test

import (
	"os"
	"testing"

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
		dir := t.TempDir()
		o := kernel.Options{Spec: checkpointSpec(t, testPython(t)), Dir: dir, Scratch: dir,
			Env: os.Environ()}
		if transport == "tcp" {
			box := kerneltest.Confine(t, "builtin", dir)
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

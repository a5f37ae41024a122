// Package kernel drives live Jupyter kernels. [Start] starts a kernel on this machine, [Attach]
// joins a local kernel as a guest, and [Dial] starts or joins one on a Jupyter Server, a JupyterHub
// user's server, a Kernel Gateway or an Enterprise Gateway. All three return a [Kernel]. [Specs]
// finds kernels to start, [Discover] kernels to join, and [Choose] picks one by name.
//
// A [Kernel] runs cells ([Kernel.Execute]), answers any other request of the
// protocol ([Kernel.Request]), undoes its cells ([Kernel.Reset]) and is closed
// ([Kernel.Close]), or left running ([Kernel.Leave]). A kernel that this program
// did not start is never restarted or ended. Package checkpoint restores the
// state that given cells produce.
//
// # Faults
//
// Anything that a cell's code can cause is data in the [notebook.Execution]: an exception, a cell
// that does not end, the death of the kernel. Earlier outputs are kept. What code cannot cause is
// an error: a missing program, a kernel that never becomes ready, a lost server, a cancelled
// context. If outputs may be missing, [notebook.Execution.Incomplete] says why, and so do the
// outputs.
//
// # Waiting
//
// Every wait ends with the kernel, a timeout or the context, whichever comes first. Only a guest's
// cell waits for other clients' cells without a timeout.
//
// # Concurrency
//
// All methods may be called from any goroutine. Cells run one at a time:
// released ipykernels of series 7 can lose the reply to a pipelined request
// (ipykernel#1554), so there is never more than one in flight.
//
// # Layers
//
// A Kernel owns one session at a time (session.go): a connection to a kernel and the host that
// controls it (host.go). The connection is a transport (transport.go), over ZeroMQ (internal/zmq)
// or WebSocket (ws.go), which delivers into queues that do not block it (internal/inbox). start.go,
// attach.go and dial.go open sessions. A run (run.go) follows one cell until its last message; a
// visit (visit.go) keeps a guest's cells apart from the user's session. Reset replaces the session.
// worker.go has what is particular to the kernel of package undokernel, and sandbox.go what a kernel
// asks of its sandbox.
package kernel

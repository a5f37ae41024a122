// Package kernel drives live Jupyter kernels. There are three ways to one, and
// one type for all: [Start] starts a kernel on this machine, [Attach] joins one
// that runs here as a guest, [Dial] starts or joins one on a Jupyter Server, a
// JupyterHub user's server, a Kernel Gateway or an Enterprise Gateway. [Specs]
// finds what can be started, [Discover] what can be joined, and [Choose] the one
// that a name means.
//
// A [Kernel] runs cells ([Kernel.Execute]), answers any other request of the
// protocol ([Kernel.Request]), undoes its cells ([Kernel.Reset]) and is closed
// ([Kernel.Close]), or left running ([Kernel.Leave]). A kernel that this program
// did not start is never restarted or ended. Package checkpoint restores the
// state that given cells produce.
//
// # Faults
//
// Whatever the code of a cell can cause is data in the [notebook.Execution]: an
// exception, a cell that does not end, the death of the kernel. Outputs that
// arrived before it are kept. What code cannot cause is an error: no such
// program, a kernel that never gets ready, a server that is lost, a cancelled
// context. Where outputs may be missing, [notebook.Execution.Incomplete] says
// why, and so do the outputs.
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
// A Kernel owns one session at a time (session.go): a connection to a kernel
// and the host that says what may be done to it (host.go). The connection is a
// transport (transport.go), over ZeroMQ (internal/zmq) or WebSocket (ws.go), which
// delivers into unbounded queues (internal/inbox). Sessions are opened by start.go,
// attach.go and dial.go. A run (run.go) follows one cell until its last message;
// a visit (visit.go) keeps a guest's cells apart from the session around them.
// Reset replaces the session. A kernel that can freeze copies of itself
// (checkpoint_spec.go) does so, and continues from one, on request (freeze.go).
package kernel

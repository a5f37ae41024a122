// Package kernel drives a live Jupyter kernel: it finds kernelspecs ([Specs],
// [FindSpec]), starts a kernel ([Start]), runs cells in it ([Kernel.Execute]),
// takes it back to the state that given cells produce ([Kernel.Rollback]) and
// stops it ([Kernel.Close]).
//
// # Faults
//
// Whatever the code of a cell can cause is data in the [notebook.Execution]: an
// exception, a cell that does not end, the death of the kernel. Outputs that
// arrived before it are kept. What code cannot cause is an error: no such
// program, a kernel that never gets ready, a cancelled context.
//
// # Waiting
//
// Nothing waits for ever. Every wait ends at the latest with the death of the
// kernel process, a time-out or the context.
//
// # Concurrency
//
// All methods may be called from any goroutine. Cells run one at a time:
// released ipykernels of series 7 can lose the reply to a pipelined request
// (ipykernel#1554), so there is never more than one in flight.
//
// # Layers
//
// A Kernel owns one session at a time: a process (process.go and one file per
// system), a connection to it (transport.go, zmq.go) and a private folder with
// the connection file and the sockets (connection.go). A run (run.go) follows
// one request until its last message. Rolling back replaces the session.
package kernel

// Package kernel runs code in Jupyter kernels: in one that it starts on this machine ([Start]), in
// a running one that it joins as a guest ([Attach]), and in one on a Jupyter Server, a JupyterHub
// user's server, a Kernel Gateway or an Enterprise Gateway ([Dial]). All three return a [Kernel].
//
//	k, err := kernel.Start(ctx, kernel.Options{
//		Spec: kernel.PythonSpec("/usr/bin/python3"), // or kernel.FindSpec, for any language
//		Env:  os.Environ(),
//	})
//	if err != nil {
//		return err
//	}
//	defer k.Close()
//	x, err := k.Execute(ctx, "print(6 * 7)") // x.Stdout() is "42\n"
//
// [Specs] finds kernels to start, [Discover] kernels to join, and [Choose] picks one by name. A
// [Kernel] runs cells ([Kernel.Execute]; with outputs as they arrive, [Kernel.ExecuteCell]),
// interrupts them ([Kernel.Interrupt]), answers input() ([Options]), sends any other request of the
// protocol ([Kernel.Request]), starts again ([Kernel.Reset]), and is closed ([Kernel.Close]).
//
// # What holds
//
// Anything that a cell's code can cause is data in the [notebook.Execution]: an exception, a cell
// that does not end, the death of the kernel. Earlier outputs are kept. What code cannot cause is
// an error: a missing program, a kernel that never becomes ready, a lost server, a cancelled
// context.
//
// No output is lost unnoticed: if outputs may be missing, [notebook.Execution.Incomplete] says why,
// and so do the outputs; only a kernel that drops outputs itself may do so unnoticed, and an
// IPython kernel that this package starts is kept from it. What threads print after the end of
// their cell is dropped.
//
// Nothing hangs: every wait ends with the kernel, a timeout or the context, whichever comes first.
// Only a guest's cell waits for other clients' cells without a timeout. The memory for outputs is
// bounded ([Outputs]).
//
// Nothing is left behind: [Kernel.Close] ends the process group of a kernel that this program
// started and removes its files. If this program is killed, the kernel ends too (on macOS, if it
// watches its parent, as ipykernel does). A kernel that this program did not start is never
// restarted or ended. In an IPython kernel, a guest's names, working folder and random generators
// are kept apart from the user's.
//
// # Concurrency
//
// All methods may be called from any goroutine. Cells run one at a time:
// released ipykernels of series 7 can lose the reply to a pipelined request
// (ipykernel#1554), so there is never more than one in flight.
//
// # What it does not do
//
// There are no kernel provisioners, no CURVE encryption and no widgets: comm messages are ignored.
// Kernels are not confined unless [Options.Sandbox] is set: package sandbox has one for Linux. They
// do not go back to earlier states: package rewind does that. This package imports neither.
//
// # Layers
//
// A Kernel has one lock (turn.go) and one session at a time (session.go): a connection to a kernel
// (transport.go) and its owner (owner.go). A run (run.go) follows one cell until its last message.
package kernel

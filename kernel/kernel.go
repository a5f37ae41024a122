package kernel

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"dsstar/kernel/internal/guard"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// Options say what to start and how. [Start] needs Spec, [Dial] the name of one on the server to
// start a kernel; [Attach] needs neither. Everything else is optional.
type Options struct {
	Spec Spec // what to start
	// working folder of the kernel process, or of a guest's cells
	Dir string
	// folder that cells write to; emptied at the start and by Reset, created if missing; "" for
	// none
	Scratch      string
	Env          []string      // complete environment of our process; the Spec's variables are added
	CellTimeout  time.Duration // how long a cell may run; 0 for no limit
	StartTimeout time.Duration // for the kernel to become ready; 0 for a minute
	Outputs      Outputs       // what to do with very long outputs
	Input        InputFunc     // answers input(); if nil, input() raises an exception
	// attach even if the server then drops output that it buffers for another client
	Discard bool
	Sandbox Sandbox // confines our process; nil for none
	// Python that an IPython kernel of ours runs before the first cell. It defines no names in the
	// session; if it raises, nobody is told
	Prelude string

	waits   waits // zero for the default; shorter in tests
	sockets bool  // use Unix sockets for any kernel, not only ipykernel; for tests
	// parent of Scratch, opened before the first cell, as cells may replace what the path leads to
	parent *os.Root
}

// hold opens the parent of the folder that cells may replace, before the first cell runs.
func (o *Options) hold() (err error) {
	if o.Scratch != "" {
		if err = os.MkdirAll(filepath.Dir(o.Scratch), 0o777); err == nil {
			o.parent, err = os.OpenRoot(filepath.Dir(o.Scratch))
		}
	}
	return err
}

func (o *Options) release() {
	if o.parent != nil {
		_ = o.parent.Close() // nothing is written through it
	}
}

// Outputs say what becomes of outputs that are too long for a notebook.
type Outputs struct {
	Limits notebook.Limits
	// bytes of output kept for all cells together; 0 for 256 MiB; beyond it, a few KiB per cell
	Run     int64
	Secrets []string // texts of which each output has xxxxx instead, unless it comes in pieces

	left *atomic.Int64 // of Run
}

// An InputFunc returns the line for a cell's input(). It should return soon after ctx has ended, as
// the cell then no longer waits. An error interrupts the cell.
type InputFunc func(ctx context.Context, prompt string, password bool) (string, error)

// A Cell is code to run, and how to run it.
type Cell struct {
	Code     string
	Timeout  time.Duration // 0 for Options.CellTimeout, negative for no limit
	MayRaise bool          // an exception is expected
	// called with each piece of output as it arrives; must not block; may be nil
	Observe func(notebook.Output)

	silent bool // not a cell: not counted, publishes nothing
}

// Info describes a running kernel, in part in the words of its kernel_info_reply.
type Info struct {
	Name   string `json:"-"` // of the Spec
	ID     string `json:"-"` // of a kernel that we joined or one on a server; "" for others
	Server string `json:"-"` // URL of the server that runs it; "" for none
	Owned  bool   `json:"-"` // we started it, and end it
	PID    int    `json:"-"` // of our process; a restart changes it

	Implementation string         `json:"implementation"`     // "ipython"
	Features       []string       `json:"supported_features"` // "kernel subshells", "debugger"
	Language       map[string]any `json:"language_info"`      // for the notebook's metadata
}

// A Kernel is a live kernel: one that this process started and will end, or somebody else's, which
// is never restarted or ended.
type Kernel struct {
	options Options
	again   opening                 // starts the next session; nil for a guest
	turn    *turn                   // held by whoever uses the session's shell channel
	session atomic.Pointer[session] // never nil; dead after a failed Reset
}

// waits are the deadlines that Options do not set. Tests shorten them.
type waits struct {
	greet     time.Duration // between two kernel_info_requests
	tune      time.Duration // for an internal request
	rouse     time.Duration // from a request to its status busy, before the kernel is roused
	takeUp    time.Duration // from a request to its status busy, before the cell is stopped
	idle      time.Duration // between reply and idle, before a probe, and again before giving up
	interrupt time.Duration // from an interrupt to the end of the cell, before the kernel is killed
	cancel    time.Duration // the same if the caller's context has ended
	shutdown  time.Duration // from shutdown_request to its reply
	exit      time.Duration // from the reply to the end of the process
	// from SIGKILL to the end of the process, or from SIGTERM to the end of a guard
	kill      time.Duration
	handshake time.Duration // for the first connection to a server's kernel, before another is tried
	reconnect time.Duration // for restoring a lost connection to a server
}

func defaultWaits() waits {
	return waits{
		greet: 2 * time.Second, tune: 10 * time.Second, rouse: 5 * time.Second, takeUp: time.Minute,
		idle:      4 * time.Second,
		interrupt: 5 * time.Second, cancel: 2 * time.Second,
		shutdown: time.Second, exit: 150 * time.Millisecond,
		kill: guard.EndsWithin + time.Second, handshake: 10 * time.Second, reconnect: time.Minute,
	}
}

// Start starts a kernel and returns when it is ready: it has answered, and its iopub messages
// arrive. The caller must Close it. Errors include the end of the kernel's standard error.
func Start(ctx context.Context, o Options) (*Kernel, error) {
	return newKernel(ctx, o, "start kernel "+o.Spec.Name, true, boot)
}

// An opening opens a session.
type opening func(context.Context, Options) (*session, error)

// newKernel opens the first session of a Kernel. If own is set, Reset opens further ones. Errors
// begin with what.
func newKernel(ctx context.Context, o Options, what string, own bool,
	open opening) (*Kernel, error) {
	named := func(ctx context.Context, o Options) (*session, error) {
		s, err := open(ctx, o)
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return s, err
	}
	if own {
		if err := o.emptyScratch(); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := o.hold(); err != nil {
		return nil, err
	}
	o.waits, o.Outputs = cmp.Or(o.waits, defaultWaits()), o.Outputs.begin()
	s, err := named(ctx, o)
	if err != nil {
		o.release()
		return nil, err
	}
	k := &Kernel{options: o, turn: newTurn()}
	k.session.Store(s)
	if own {
		k.again = named
	}
	return k, nil
}

// Execute runs code as one cell and returns its execution. The error is ctx.Err(), after
// interrupting the cell, or [ErrClosed], or a connection failure; the Execution then holds the
// outputs so far. Everything else, including the kernel's death, is in the Execution (see the
// package comment). Concurrent calls run one after the other.
func (k *Kernel) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	return k.ExecuteCell(ctx, Cell{Code: code})
}

// ExecuteCell is [Kernel.Execute] with the options of a [Cell].
func (k *Kernel) ExecuteCell(ctx context.Context, c Cell) (notebook.Execution, error) {
	ctx, release, err := k.turn.take(ctx)
	if err != nil {
		return notebook.Execution{}, err
	}
	defer release()
	return k.current().run(ctx, c, max(0, cmp.Or(c.Timeout, k.options.CellTimeout)))
}

// Silently runs code that is not a cell: it is not counted, and its value is not shown. Outputs and
// errors are those of [Kernel.Execute].
func (k *Kernel) Silently(ctx context.Context, code string,
	limit time.Duration) (notebook.Execution, error) {
	return k.ExecuteCell(ctx, Cell{Code: code, Timeout: limit, silent: true})
}

// Hold keeps other callers out until release is called: calls with the context that it returns are
// the holder's.
func (k *Kernel) Hold(ctx context.Context) (holder context.Context, release func(), err error) {
	return k.turn.take(ctx)
}

// Reset undoes all cells. A kernel of ours, even a dead one, is ended and started anew with an
// empty Scratch; after an error it is dead, and Reset may be called again. In a kernel that is not
// ours, names that cells created are deleted, names that they rebound get their old objects back,
// the cells' working folder is reset, and Scratch is emptied; if that kernel is dead, Reset fails.
func (k *Kernel) Reset(ctx context.Context) error {
	ctx, release, err := k.turn.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if k.again == nil {
		if err := k.current().restore(ctx); err != nil {
			return err
		}
		return k.options.emptyScratch()
	}
	if err := k.current().end(false); err != nil {
		return err
	}
	// Only now: a live process could still write there.
	if err := k.options.emptyScratch(); err != nil {
		return err
	}
	s, err := k.again(ctx, k.options)
	if err != nil {
		if ctx.Err() != nil {
			err = Ended(ctx)
		}
		return err
	}
	k.session.Store(s)
	return nil
}

// emptyScratch removes what cells have written.
func (o Options) emptyScratch() error {
	if o.Scratch == "" {
		return nil
	}
	// the next process is given the path, so it must lead to the folder that is held
	return disk.EmptyFolder(o.Scratch, o.parent)
}

// Scratch returns Options.Scratch.
func (k *Kernel) Scratch() string { return k.options.Scratch }

// Close ends a kernel of ours and its process group. It leaves any other kernel as it was, except
// for objects changed in place and names kept by [Kernel.Visit]. Calls in progress return
// [ErrClosed]. No processes, goroutines or files of ours remain; an error means that our kernel may
// still run. Close may be called more than once.
func (k *Kernel) Close() error {
	return k.turn.close(func() error {
		defer k.options.release()
		return k.current().end(true)
	})
}

// Info describes the kernel, as of its start or of joining it.
func (k *Kernel) Info() Info { return k.current().info }

// Alive reports whether the kernel is running, as far as is known.
func (k *Kernel) Alive() bool {
	_, ended := k.current().ended()
	return !ended
}

func (k *Kernel) current() *session { return k.session.Load() }

// begin returns o with all that it may keep. Sessions that follow each other share it.
func (o Outputs) begin() Outputs {
	o.Run, o.left = cmp.Or(o.Run, 256<<20), new(atomic.Int64)
	o.left.Store(o.Run)
	return o
}

// fold returns the fold for the outputs of a cell. Call [Outputs.take] at its end.
func (o Outputs) fold(c Cell) notebook.Fold {
	l := o.Limits
	l.Cell = int(min(int64(cmp.Or(l.Cell, notebook.DefaultLimits.Cell)), max(o.left.Load(), 1)))
	return notebook.Fold{Limits: l, Observe: c.Observe, Secrets: o.Secrets}
}

// take subtracts the outputs of a finished cell from what is left. When that uses it up, a note in
// f says so.
func (o Outputs) take(f *notebook.Fold) {
	size := int64(f.Size())
	if left := o.left.Add(-size); left <= 0 && left+size > 0 {
		f.Note(fmt.Sprintf("the outputs of all cells have reached %s: from here on little is kept of them",
			human.Bytes(o.Run)))
	}
}

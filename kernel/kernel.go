package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"dsstar/kernel/internal/turn"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// ErrClosed is returned by a Kernel's methods after Close.
var ErrClosed = turn.ErrClosed

// Options say what to start and how. [Start] needs the Spec, [Dial] the name of one on the server;
// [Attach] needs neither. Everything else is optional.
type Options struct {
	Spec Spec // what to start
	// working directory of the kernel process; a guest's cells run there too
	Dir string
	// folder that cells write to; emptied at the start and by Reset, created if missing; "" for none
	Scratch      string
	Env          []string      // the whole environment of a process of ours; the Spec's own is added
	CellTimeout  time.Duration // how long a cell may run; 0 for no limit
	StartTimeout time.Duration // until the kernel is ready; 0 for a minute
	Outputs      Outputs       // what becomes of very long outputs
	Input        InputFunc     // answers input(); nil: input() raises an exception
	// attach although the server may then drop output that it keeps for somebody else
	Discard bool
	Sandbox sandbox.Box // what confines a process of ours
	// Jupyter's runtime folder, for a process of ours that [Kernel.Leave] may leave running
	KeepIn string

	sockets bool // Unix sockets for whatever kernel: for tests
	// of Scratch, held from before the first cell: cells may replace what its path leads to
	parent *os.Root
}

// hold opens the folders that cells may replace, before the first cell runs.
func (o *Options) hold() (err error) {
	if o.Scratch != "" {
		if err = os.MkdirAll(filepath.Dir(o.Scratch), 0o777); err == nil {
			o.parent, err = os.OpenRoot(filepath.Dir(o.Scratch))
		}
	}
	if err == nil && o.Outputs.Folder != "" {
		o.Outputs.parent, err = os.OpenRoot(filepath.Dir(o.Outputs.Folder))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		o.release()
	}
	return err
}

// release closes them.
func (o *Options) release() {
	for _, root := range []*os.Root{o.parent, o.Outputs.parent} {
		if root != nil {
			_ = root.Close() // nothing is written through it
		}
	}
}

// Outputs say what becomes of outputs that are too long for a notebook.
type Outputs struct {
	Limits notebook.Limits
	// bytes that the cells of a Kernel keep together; 0 for 256 MiB; past it cells keep a few KiB each
	Run   int64
	Files int64 // bytes that Folder may hold, with what is there at the start; 0 for 4 GiB
	// where they are kept whole, outside of Scratch, in a folder whose path is no link; made when the
	// first one comes; "" for nowhere
	Folder  string
	ShownAs string // how a reader of the notebook finds Folder

	parent *os.Root // of Folder as it was before the first cell; nil if it is not known
	quota  *quota   // of all sessions of a Kernel
}

// An InputFunc asks somebody for the line that a cell's input() wants. It should return soon after
// ctx has ended, when the cell no longer waits. An error interrupts the cell.
type InputFunc func(ctx context.Context, prompt string, password bool) (string, error)

// A Cell is code to be run, and how.
type Cell struct {
	Code string
	// of the notebook's cell; it names the files of long outputs, and [Kernel.Late] returns it
	ID       string
	Timeout  time.Duration // 0 for that of the Options, negative for no limit
	MayRaise bool          // an exception is expected
	// is given each piece of output as it comes; must not block; may be nil
	Observe func(notebook.Output)

	// Divert is given each message that could be output, or is about a comm, before it becomes
	// output, and reports whether it keeps it: then it does not. It must not block; it may be nil.
	Divert func(Message) bool
}

// Info says what kernel is running.
type Info struct {
	Name string // of the Spec
	// of a kernel that was attached to or dialled, or can be later: see Options.KeepIn
	ID string
	// connection file of a kernel of this machine that others can connect to
	File           string
	Server         string         // URL of the server that runs it; "" for none
	Owned          bool           // started by us, to be ended by us
	Implementation string         // "ipython"
	Features       []string       // supported_features: "kernel subshells", "debugger"
	Language       map[string]any // language_info as the kernel gave it, for the notebook's metadata
	PID            int            // of a process of ours; changes with a new process
}

// A Kernel is a live kernel: one that this process started and will end, or somebody else's, which
// is never restarted or ended.
type Kernel struct {
	options Options
	waits   waits
	again   opening    // starts the next session; nil for a guest
	turn    *turn.Turn // held by whoever uses the session's shell channel
	folder  string     // Scratch as processes see it

	mu      sync.Mutex
	session *session // never nil; dead after a failed Reset
}

// waits are the deadlines that Options do not set. Tests shorten them.
type waits struct {
	greet     time.Duration // between two kernel_info_requests
	tune      time.Duration // for a request of our own
	rouse     time.Duration // from a request to its busy, before the kernel is roused
	takeUp    time.Duration // from a request to its busy, before the cell is stopped
	idle      time.Duration // from the reply to idle, or back, before a doubt and again after it
	interrupt time.Duration // from an interrupt to the end of the cell, before the kernel is killed
	cancel    time.Duration // the same when the caller has gone
	shutdown  time.Duration // from shutdown_request to its reply
	exit      time.Duration // from the reply to the end of the process
	// from SIGKILL to the end of the process, or from SIGTERM to that of a guard
	kill time.Duration
	// for the kernel to freeze a copy of itself or to go on from one; it gives up sooner: see
	// frozen.py
	frozen    time.Duration
	handshake time.Duration // for a server's first connection to a kernel, before another is tried
	reconnect time.Duration // from the loss of a server to giving it up
}

func defaultWaits() waits {
	return waits{
		greet: 2 * time.Second, tune: 10 * time.Second, rouse: 5 * time.Second, takeUp: time.Minute,
		idle:      4 * time.Second,
		interrupt: 5 * time.Second, cancel: 2 * time.Second,
		frozen: 20 * time.Second, shutdown: time.Second, exit: 150 * time.Millisecond,
		kill: sandbox.EndsWithin + time.Second, handshake: 10 * time.Second, reconnect: time.Minute,
	}
}

// Start starts a kernel and returns when it is ready: it has answered, and its iopub messages
// arrive. The caller must Close it. Errors include the end of the kernel's standard error.
func Start(ctx context.Context, o Options) (*Kernel, error) {
	return start(ctx, o, defaultWaits())
}

func start(ctx context.Context, o Options, w waits) (*Kernel, error) {
	if err := o.Spec.check(); err != nil {
		return nil, fmt.Errorf("start kernel %s: %w", o.Spec.Name, err)
	}
	if err := o.emptyScratch(); err != nil {
		return nil, fmt.Errorf("start kernel %s: %w", o.Spec.Name, err)
	}
	return newKernel(ctx, o, w, true,
		func(ctx context.Context, o Options) (*session, error) { return boot(ctx, o, w) })
}

// An opening opens a session.
type opening func(context.Context, Options) (*session, error)

// newKernel makes a Kernel of its first session.
func newKernel(ctx context.Context, o Options, w waits, own bool, open opening) (*Kernel, error) {
	if err := o.hold(); err != nil {
		return nil, err
	}
	o.Outputs = o.Outputs.withQuota()
	s, err := open(ctx, o)
	if err != nil {
		o.release()
		return nil, err
	}
	k := &Kernel{options: o, waits: w, turn: turn.New(), session: s}
	if own {
		k.again = open
	}
	if own && s.freezes() {
		if k.folder, err = resolved(o.Scratch); err != nil {
			return nil, errors.Join(err, k.Close())
		}
	}
	return k, nil
}

// Execute runs code as one cell and returns its execution. The error is ctx.Err(), wrapped, after
// the cell was interrupted; [ErrClosed]; or a failure of the connection. Everything else is in the
// Execution (see the package comment), also that the kernel is dead. With an error, the Execution
// has the outputs so far. Calls wait for one another.
func (k *Kernel) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	return k.ExecuteCell(ctx, Cell{Code: code})
}

// ExecuteCell is [Kernel.Execute] with more to say about the cell.
func (k *Kernel) ExecuteCell(ctx context.Context, c Cell) (notebook.Execution, error) {
	ctx, release, err := k.turn.Take(ctx)
	if err != nil {
		return notebook.Execution{}, err
	}
	defer release()
	return k.current().execute(ctx, c, k.limit(c))
}

// Reset undoes all cells. It works on a dead kernel, too. A kernel of ours is ended, Scratch is
// emptied and a new one started. In a kernel that is not ours, names that cells made are deleted,
// names that they rebound get their old objects back, and Scratch is emptied. After an error the
// kernel is dead; another Reset may follow.
func (k *Kernel) Reset(ctx context.Context) error {
	ctx, release, err := k.turn.Take(ctx)
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
	if err := k.current().end(); err != nil {
		return err
	}
	// Only now: a live process could still write there.
	if err := k.options.emptyScratch(); err != nil {
		return err
	}
	s, err := k.again(ctx, k.options)
	if err != nil {
		if ctx.Err() != nil {
			err = turn.Reason(ctx)
		}
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = s
	return nil
}

// emptyScratch removes what cells have written.
func (o Options) emptyScratch() error {
	if o.Scratch == "" {
		return nil
	}
	if o.parent == nil { // no cell has run yet
		return disk.EmptyFolder(o.Scratch)
	}
	if err := disk.LeadsTo(filepath.Dir(o.Scratch), o.parent); err != nil {
		// what starts now would go by the path
		return err
	}
	return disk.EmptyFolderIn(o.parent, filepath.Base(o.Scratch))
}

// Scratch returns the folder of that name of the Options.
func (k *Kernel) Scratch() string { return k.options.Scratch }

// limit returns how long c may run; 0 for as long as it likes.
func (k *Kernel) limit(c Cell) time.Duration {
	return max(0, cmp.Or(c.Timeout, k.options.CellTimeout))
}

// A Late is output that threads and asynchronous tasks of a cell produced after its end.
type Late struct {
	CellID  string // of [Cell]
	Outputs []notebook.Output
	// displays that changed, of this cell or of others; see [notebook.Redisplay]
	Updates []notebook.Output
}

// Late returns the late outputs since its last call, by cell in the order of their first message.
// At most a few megabytes are kept.
func (k *Kernel) Late() []Late { return k.current().takeLate() }

// Close ends a kernel of ours and its process group, and leaves any other as it was found, except
// for changed objects and the names that are to stay ([Kernel.Visit]). A call in progress ends with
// [ErrClosed]. No processes, goroutines or files of ours remain; the error is that a server could
// not be made to end a kernel. Close may be called more than once.
func (k *Kernel) Close() error { return k.closeBy((*session).shutdown) }

// closeBy ends the session by the given function, once.
func (k *Kernel) closeBy(end func(*session) error) error {
	return k.turn.Close(func() error {
		defer k.options.release()
		return end(k.current())
	})
}

// Info returns what the kernel said about itself.
func (k *Kernel) Info() Info { return k.current().info }

// Alive reports whether the kernel is running, as far as can be seen.
func (k *Kernel) Alive() bool {
	s := k.current()
	return !ended(s.host) && s.fell() == ""
}

func (k *Kernel) current() *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session
}

// infoOf reads a kernel_info_reply, as far as it can be read: a kernel that runs cells is not
// refused for its banner.
func infoOf(content json.RawMessage) Info {
	var reply struct {
		Implementation string         `json:"implementation"`
		Features       []string       `json:"supported_features"`
		Language       map[string]any `json:"language_info"`
	}
	_ = json.Unmarshal(content, &reply)
	return Info{Implementation: reply.Implementation, Features: reply.Features,
		Language: reply.Language}
}

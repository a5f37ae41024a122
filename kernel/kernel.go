package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"dsstar/notebook"
)

// ErrClosed is returned by a Kernel's methods after Close.
var ErrClosed = errors.New("the kernel is closed")

// Options say what to start and how. Only Spec is required.
type Options struct {
	Spec         Spec          // what to start
	Dir          string        // working directory of the kernel process
	Scratch      string        // folder that cells write to; emptied by Rollback, created if missing; "" for none
	Env          []string      // the whole environment; the Spec's own is added
	CellTimeout  time.Duration // how long a cell may run; 0 for no limit
	StartTimeout time.Duration // 0 for a minute
}

// Info says what kernel is running.
type Info struct {
	Name           string         // of the Spec
	Implementation string         // "ipython"
	Version        string         // of the implementation
	Banner         string         // what the kernel says when it starts
	Language       map[string]any // language_info as the kernel gave it, for the notebook's metadata
	PID            int            // changes with every Rollback
}

// A Kernel is a live kernel that this process started and will end.
type Kernel struct {
	options Options
	waits   waits
	turn    chan struct{} // holds a token while nobody uses the session's shell channel

	mu      sync.Mutex
	session *session                // never nil; dead after a failed Rollback
	cancel  context.CancelCauseFunc // ends the turn under way; nil without one
	closed  bool
	done    chan struct{} // closed when Close has finished
}

// waits are the deadlines that Options do not set. They are fields so that
// tests need not wait as long as people.
type waits struct {
	greet     time.Duration // between two kernel_info_requests
	tune      time.Duration // for a request of our own, before the start goes on without it
	rouse     time.Duration // from a request to its busy, before the kernel is roused
	takeUp    time.Duration // from a request to its busy, before the cell is stopped
	idle      time.Duration // from the reply to idle, or back, before a doubt and again after it
	interrupt time.Duration // from an interrupt to the end of the cell, before the kernel is killed
	cancel    time.Duration // the same when the caller has gone
	shutdown  time.Duration // from shutdown_request to its reply
	exit      time.Duration // from the reply to the end of the process
	kill      time.Duration // from SIGKILL to the end of the process
}

func defaultWaits() waits {
	return waits{
		greet: 2 * time.Second, tune: 10 * time.Second, rouse: 5 * time.Second, takeUp: time.Minute, idle: 4 * time.Second,
		interrupt: 5 * time.Second, cancel: 2 * time.Second,
		shutdown: time.Second, exit: 150 * time.Millisecond, kill: 5 * time.Second,
	}
}

// Start starts a kernel and returns when it is ready: it has answered, and what
// it publishes arrives. The caller must Close it. The text of an error has the
// end of what the kernel wrote to its standard error.
func Start(ctx context.Context, o Options) (*Kernel, error) {
	return start(ctx, o, defaultWaits())
}

func start(ctx context.Context, o Options, w waits) (*Kernel, error) {
	if err := o.Spec.check(); err != nil {
		return nil, fmt.Errorf("start kernel %s: %w", o.Spec.Name, err)
	}
	if o.Scratch != "" {
		if err := makeDir(o.Scratch); err != nil {
			return nil, fmt.Errorf("start kernel %s: %w", o.Spec.Name, err)
		}
	}
	s, err := boot(ctx, o, w)
	if err != nil {
		return nil, err
	}
	k := &Kernel{options: o, waits: w, turn: make(chan struct{}, 1), session: s, done: make(chan struct{})}
	k.turn <- struct{}{}
	return k, nil
}

// Execute runs code as one cell and returns what it gave. The error is
// ctx.Err(), wrapped, after the cell was interrupted; or [ErrClosed]; or a
// failure of the connection. Everything else is in the Execution: see the
// package comment. On a kernel that has died the Execution says so. Calls wait
// for one another.
func (k *Kernel) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	ctx, release, err := k.begin(ctx)
	if err != nil {
		return notebook.Execution{}, err
	}
	defer release()
	r := &run{s: k.current(), code: code, limit: k.options.CellTimeout}
	return r.execute(ctx)
}

// Close ends the kernel and everything that it started, and a call under way
// with [ErrClosed]. It leaves neither processes nor goroutines nor files and
// may be called more than once.
func (k *Kernel) Close() error {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		<-k.done
		return nil
	}
	k.closed = true
	if k.cancel != nil {
		k.cancel(ErrClosed)
	}
	k.mu.Unlock()
	<-k.turn // never given back
	k.current().shutdown()
	close(k.done)
	return nil
}

// Info returns what the kernel said about itself.
func (k *Kernel) Info() Info { return k.current().info }

// Alive reports whether the kernel's process is running.
func (k *Kernel) Alive() bool { return k.current().proc.alive() }

func (k *Kernel) current() *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session
}

// begin waits for the turn and returns a context which Close cancels too, and
// the function that gives the turn back.
func (k *Kernel) begin(ctx context.Context) (context.Context, func(), error) {
	select {
	case <-k.turn:
	case <-k.done:
		return nil, nil, ErrClosed
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		k.turn <- struct{}{}
		return nil, nil, ErrClosed
	}
	ctx, k.cancel = context.WithCancelCause(ctx)
	return ctx, func() {
		k.mu.Lock()
		k.cancel(nil)
		k.cancel = nil
		k.mu.Unlock()
		k.turn <- struct{}{}
	}, nil
}

// infoOf reads a kernel_info_reply. A reply that is not as it should be gives
// what can be read: a kernel that runs cells is not refused for its banner.
func infoOf(name string, pid int, content json.RawMessage) Info {
	var reply struct {
		Implementation string         `json:"implementation"`
		Version        string         `json:"implementation_version"`
		Banner         string         `json:"banner"`
		Language       map[string]any `json:"language_info"`
	}
	_ = json.Unmarshal(content, &reply)
	return Info{
		Name: name, PID: pid, Implementation: reply.Implementation, Version: reply.Version,
		Banner: reply.Banner, Language: reply.Language,
	}
}

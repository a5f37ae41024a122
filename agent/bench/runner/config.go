package runner

import (
	"context"
	"errors"
	"time"
)

// A Place is where kernels are opened: this machine, or a Jupyter server.
type Place struct {
	Name string
	// Ready waits until kernels can be opened, or says why they cannot. It is
	// called before the first task and after one that the place has failed. nil:
	// it always is. What is no [*PlaceError] ends the whole run.
	Ready func(ctx context.Context) error
}

// A PlaceError says that the place of a task has failed, not the task, which is
// then given to another one.
type PlaceError struct{ Err error }

func (e *PlaceError) Error() string { return e.Err.Error() }
func (e *PlaceError) Unwrap() error { return e.Err }

// A LackingError says that a task cannot be run, as something of it is not there. It
// stays without a record, and the run goes on.
type LackingError struct{ Err error }

func (e *LackingError) Error() string { return e.Err.Error() }
func (e *LackingError) Unwrap() error { return e.Err }

// ErrOverTime is the cause of the context of a task whose time is over.
var ErrOverTime = errors.New("the time of the task is over")

// A Job is one task to be done.
type Job struct {
	Item
	Repeat int
	Dir    string // its run folder: there, and empty
	Place  int    // of Config.Places

	timeout time.Duration
	tally   *tally
}

// Bound is a context that ends with the time of the task; its cause is then
// [ErrOverTime]. What it takes to score is outside of it.
func (j Job) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if j.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, j.timeout, ErrOverTime)
}

// A Config is what a run needs. Folder, Places, Jobs and Solve are required.
type Config struct {
	Folder  *Folder
	Places  []Place
	Jobs    int           // tasks at once, in all places together
	Timeout time.Duration // of one task, until it is scored; 0: none
	Time    time.Duration // of the run; 0: none
	Budget  *Budget       // nil: none

	// Solve does one task, in the time of [Job.Bound], and scores it. What can be the fault of agent, model or
	// cells is in the Record. An error is no result: a [*PlaceError], a
	// [*LackingError], or one that ends the run. Calls are concurrent.
	Solve func(ctx context.Context, j Job) (Record, error)

	// Observe, if set, is told what happens. One call at a time.
	Observe func(Event)

	Pause    time.Duration // before a lost place is tried again; 0: 5 s, then up to a minute
	Patience time.Duration // how long all places may be lost; 0: 10 minutes
	Give     int           // how often a task is given on whose places are well; 0: 3
}

// A Kind is a kind of event.
type Kind string

// The kinds of events.
const (
	Begun     Kind = "begun"      // a task
	Ended     Kind = "ended"      // it has its record
	GivenBack Kind = "given back" // its place has failed
	Lost      Kind = "lost"       // a place
	Back      Kind = "back"       // it is there again
	Lacking   Kind = "lacking"    // a task cannot be run
)

// An Event is one thing that happened, with the state after it.
type Event struct {
	Kind   Kind
	Key    Key
	Place  string
	Err    error   // of GivenBack, Lost and Lacking
	Record *Record // of Ended

	Totals
}

// Totals is where a run stands.
type Totals struct {
	Right, Wrong, Unscored int // recorded, earlier ones included
	Earlier                int // of these, how many there were at the beginning
	Running, Left          int
	Cost                   float64
}

func (t *Totals) count(r Record) {
	switch _, scored := r.Value(); {
	case !scored:
		t.Unscored++
	case r.Right():
		t.Right++
	default:
		t.Wrong++
	}
}

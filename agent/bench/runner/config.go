package runner

import (
	"context"
	"errors"
	"time"

	"dsstar/agent/ask"
)

// A Site is where kernels are opened: this machine, or a Jupyter server.
type Site struct {
	Name string
	// Ready waits until kernels can be opened, or returns why they cannot. It is called before
	// the first task and whenever the place has failed a task. nil: the place is always ready.
	// An error other than a [*SiteError] ends the run.
	Ready func(ctx context.Context) error
}

// A SiteError reports that the place has failed, not the task. The task is then given to
// another place.
type SiteError struct{ Err error }

func (e *SiteError) Error() string { return e.Err.Error() }
func (e *SiteError) Unwrap() error { return e.Err }

// A LackingError reports that a task cannot run because something is missing. The task gets no
// record, and the run continues.
type LackingError struct{ Err error }

func (e *LackingError) Error() string { return e.Err.Error() }
func (e *LackingError) Unwrap() error { return e.Err }

// ErrOverTime is the cause with which a task's context ends at its time limit.
var ErrOverTime = errors.New("the task timed out")

// A Job is one repeat of a task, which is to be done.
type Job struct {
	Item
	Repeat int
	Dir    string // its run folder, which exists and is empty
	Site   int    // index in Config.Sites

	timeout time.Duration
	tally   *tally
	tries   int // that failed although the place was ready
}

// Key returns the key of the job's record.
func (j Job) Key() Key { return Key{j.ID, j.Repeat} }

// Bound returns a context that ends at the task's time limit, with the cause [ErrOverTime].
// Scoring is not subject to the limit.
func (j Job) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if j.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, j.timeout, ErrOverTime)
}

// A Config configures a run. Folder, Sites, Jobs and Solve are required.
type Config struct {
	Folder  *Folder
	Sites   []Site
	Jobs    int           // concurrent tasks, in all places together
	Timeout time.Duration // of one task, without its scoring; 0: none
	Budget  *ask.Budget   // nil: none

	// Solve solves one task, within [Job.Bound], and scores the answer. Failures of the agent,
	// the model or cells belong in the Record. An error means that there is no record. Any
	// error but a [*SiteError] or [*LackingError] ends the run. Calls are concurrent.
	Solve func(ctx context.Context, j Job) (Record, error)

	// Observe, if set, is called for each event, one call at a time.
	Observe func(Event)
}

// A Kind is a kind of event.
type Kind string

// The kinds of events.
const (
	Begun     Kind = "begun"      // a task
	Ended     Kind = "ended"      // it has its record
	GivenBack Kind = "given back" // its place has failed
	Lost      Kind = "lost"       // a place
	Back      Kind = "back"       // a lost place is ready again
	Lacking   Kind = "lacking"    // a task cannot be run
)

// An Event is something that happened, and the state after it.
type Event struct {
	Kind   Kind
	Key    Key
	Site   string
	Err    error   // of GivenBack, Lost and Lacking
	Record *Record // of Ended

	Totals
}

// Totals is the progress of a run.
type Totals struct {
	Right, Wrong, Unscored int // records, including earlier ones
	Earlier                int // records at the start
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

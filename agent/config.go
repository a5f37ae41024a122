package agent

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A Config is what a run needs beside its task: how the model is asked, how the files are
// described, and the rest.
type Config struct {
	ask.Settings
	describe.Options
	Open      Open
	RunScript RunScript
	Dir       string     // the run folder
	Key       record.Key // of whoever draws the notebook

	Method    record.Method
	Baseline  *Baseline // the method, if it is none of ours
	MaxRounds int       // steps that are tried at most
	Guest     bool      // the session for Work is a [Host]
	Alone     bool      // there can be no session for Second beside it

	Recalled *record.Recalled // of the memory of the data, to show and to use: see [RecallFor]
	Approved []Approved       // definitions, which bind
	Confined bool             // a sandbox confines all cells
	Learn    bool             // have the model propose what a verified answer leaves for the memory

	Choice   record.Choice // of the models, for the record
	Sandbox  string        // what confines the cells, for the record
	Memory   int64         // bytes that the session may take, for requests; 0: not known
	Warnings []string      // that the record begins with

	// Observe is told of each event after the trajectory holds it; it may read
	// the trajectory until it returns, and add to its Warnings. Its error ends
	// the run. One call at a time.
	Observe func(Event, *record.Trajectory) error

	// ChooseReading, if set, is asked which option of a reading that changes the answer is meant.
	// The answer of the option that the cells take is given. It returns the option's index, or -1
	// to leave the reading open. Its error ends the run.
	ChooseReading func(ctx context.Context, reading record.Reading, answer string) (int, error)

	// Review, if set, is asked about every cell right before it runs, and waited
	// for: each step's, each repair, and the last one. Cells that have run before are
	// run again unasked, and so are the scripts that describe files. Its error ends
	// the run.
	Review func(context.Context, Proposal) (Decision, error)
}

// A Session is a live kernel. What a cell's code can cause is in the Execution; an error is
// something that it cannot cause, and ends the run.
type Session interface {
	// Execute runs one cell.
	Execute(ctx context.Context, code string) (notebook.Execution, error)
	// Rollback puts the session into exactly the state, files of the working
	// folder included, that the cells produce from an empty session, and
	// returns what they gave. It stops at a cell that fails.
	Rollback(ctx context.Context, cells []string) (notebook.Restoration, error)
	// Silently runs code that is not a cell, within limit: nothing counts or shows it, and Rollback
	// does not know of it.
	Silently(ctx context.Context, code string, limit time.Duration) (notebook.Execution, error)
	// Alive reports whether the session has not ended, as far as is known. Rollback works all the
	// same.
	Alive() bool
	Close() error
}

// A Purpose says what a session is opened for.
type Purpose int

const (
	Describe Purpose = iota // run the scripts that describe files
	Work                    // the run's own session
	Prove                   // run the accepted cells from scratch, after the run's own session
	Second                  // derive the answer again, while the run's own session goes on
)

// Open opens a private session that starts in dir; dir/files is the folder that its cells
// may write to. The caller closes it. A session for Work is opened in the run folder, any other in
// a temporary one; those for Work and Prove must look the same to a cell.
type Open func(ctx context.Context, purpose Purpose, dir string) (Session, error)

// A Kind is a kind of event.
type Kind string

// The kinds of events of a run, in the order in which they first occur.
const (
	Begun     Kind = "begun"     // nothing is done yet
	Started   Kind = "started"   // the environment is known
	Described Kind = "described" // a file has its description
	Met       Kind = "met"       // the variables of somebody else's session are known
	Planned   Kind = "planned"   // a step was proposed
	Repeated  Kind = "repeated"  // the cell of a step is run again
	Ran       Kind = "ran"       // a cell ran, well or not
	Rejected  Kind = "rejected"  // a person did not let a cell run
	Judged    Kind = "judged"    // a verdict was given
	Routed    Kind = "routed"    // a route was chosen
	// the session is back at the accepted cells; the text says by which way
	WentBack  Kind = "went back"
	Finalized Kind = "finalized" // the last cell printed the answer
	Branched  Kind = "branched"  // a cell of a branch ran, well or not
	Read      Kind = "read"      // the answer under another reading is known
	Derived   Kind = "derived"   // the second derivation is settled
	Ruled     Kind = "ruled"     // two derivations differ, and an arbiter has decided
	Proving   Kind = "proving"   // a fresh run begins
	Proved    Kind = "proved"    // it ended
	Learnt    Kind = "learnt"    // what the answer leaves for the memory is known
	Recorded  Kind = "recorded"  // the journal has something that it had not
	Warned    Kind = "warned"    // something that the user should know
	Ended     Kind = "ended"     // nothing follows
)

// An Event is one thing that happened, for whoever watches.
type Event struct {
	Kind      Kind
	Round     int    // from 1; 0 outside the rounds
	Step      int    // the number of the step in the plan
	Try       int    // from 1
	Branch    string // of Branched, Read and Rejected: "reading 1, option 2", "second derivation"
	Text      string
	Execution *notebook.Execution // of Ran and Rejected
	Before    bool                // it happened in an earlier attempt at the run, which this one retraces
}

// observe reports an event to the observer, with the current round and step.
func (r *run) observe(e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == Warned {
		if r.warned[e.Text] {
			return nil // once is enough
		}
		r.warned[e.Text] = true
		if !slices.Contains(r.t.Warnings, e.Text) {
			r.t.Warnings = append(r.t.Warnings, e.Text)
		}
	}
	e.Before = e.Before || e.Kind != Begun && e.Kind != Ended && !r.live()
	if last := r.t.Last(); last != nil && e.Kind != Finalized && e.Kind != Proved {
		e.Round, e.Step = r.number(), cmp.Or(e.Step, last.Place)
	}
	spent, model := r.asker.Spent()
	r.t.Spent = spent
	r.t.Seconds = record.Seconds{
		Total: r.before.Total + time.Since(r.began).Seconds(),
		Model: r.before.Model + model, Kernel: r.before.Kernel + r.kernel.Seconds(),
	}
	return r.cfg.Observe(e, r.t)
}

// live reports whether something happens that is not recorded.
func (r *run) live() bool { return !r.resumed || r.t.Journal.Asked() > r.retraced }

// Warn warns the user, once for each text.
func (r *run) Warn(text string) error { return r.observe(Event{Kind: Warned, Text: text}) }

// Started records the Python environment of the cells.
func (r *run) Started(environment string) error {
	r.t.Environment = environment
	return r.observe(Event{Kind: Started, Text: environment})
}

// Described records the description of file i.
func (r *run) Described(i int, d record.Description) error {
	r.mu.Lock()
	r.t.Descriptions[i] = d
	r.mu.Unlock()
	return r.observe(Event{Kind: Described, Text: d.File, Try: d.Tries})
}

// number returns the number of the current round among those of the run; 0 if there is none. The plan
// as a person has left it is of the person's turn.
func (r *run) number() int {
	switch last := r.t.Last(); {
	case last == nil:
		return 0
	case last.Given:
		return r.t.Before() + r.t.Start.Number
	default:
		return r.t.Before() + last.Number
	}
}

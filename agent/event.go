package agent

import (
	"cmp"
	"slices"
	"time"

	"dsstar/agent/record"
	"dsstar/notebook"
)

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

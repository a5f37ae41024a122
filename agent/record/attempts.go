package record

import (
	"fmt"
	"slices"

	"dsstar/agent/brief"
	"dsstar/notebook"
)

// NotRun reports whether a person did not let the attempt run.
func (a Attempt) NotRun() bool { return a.Execution.Status == notebook.NotRun }

// Rejected reports whether a person did not let the round's step run.
func (r Round) Rejected() bool { return slices.ContainsFunc(r.Attempts, Attempt.NotRun) }

// Tried returns all attempts at cells.
func (t *Trajectory) Tried() (all []Attempt) {
	for _, q := range t.Questions {
		for _, r := range q.Ever() {
			all = append(all, r.Attempts...)
		}
		all = append(all, q.final().Attempts...)
	}
	return all
}

// HowRestored says how a session went back.
func HowRestored(b notebook.Restoration) string {
	switch why := brief.OneLine(b.Why); {
	case b.Way == notebook.NotAtAll:
		return "not at all: going back is off"
	case why == "":
		return "by " + string(b.Way)
	case b.Way == notebook.ByCheckpoint:
		return "by an earlier checkpoint, for want of a nearer one (" + why + ")"
	default:
		return fmt.Sprintf("by %s (%s)", b.Way, why)
	}
}

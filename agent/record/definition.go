package record

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/definitions"
)

// A Definition is one that this user has approved, and that requests about a question show.
type Definition struct {
	definitions.Definition
	Root    string `json:"root"`              // the folder or file that has it
	Foreign bool   `json:"foreign,omitempty"` // a program has parsed it: see [Trajectory.Foreign]
}

// String names the definition with its place. It is the place of evidence that quotes it.
func (d Definition) String() string {
	return fmt.Sprintf("definition %s (%s)", brief.OneLine(d.Term), brief.OneLine(d.Place))
}

// Short returns the beginning of the definition's digest.
func (d Definition) Short() string { return d.Digest()[:12] }

// Used returns the definitions whose term the question or its form uses, or that evidence quotes.
func (q *Question) Used() []Definition {
	return slices.DeleteFunc(slices.Clone(q.Definitions), func(d Definition) bool {
		quoted := func(r Reading) bool { return strings.Contains(r.Evidence, d.String()) }
		return !d.Used(q.Text+"\n"+q.Guidelines) && !slices.ContainsFunc(q.Readings, quoted)
	})
}

// A Named is a folder or file of definitions that the user has approved for this run alone.
type Named struct {
	Path   string `json:"path"`
	Digest string `json:"digest"` // of its files
}

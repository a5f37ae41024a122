package record

import (
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/definitions"
)

// A Definition is one that this user has approved, and that requests about a question show.
type Definition struct {
	definitions.Definition
	Root string `json:"root"`           // the folder or file that has it
	Once bool   `json:"once,omitempty"` // approved for one command alone
	File string `json:"file,omitempty"` // the digest of its file, if that is no Markdown
}

// String names the definition with its place. It is the place of evidence that quotes it.
func (d Definition) String() string {
	return brief.OneLine("definition " + d.Term + " (" + d.Place + ")")
}

// Asks returns the question with the form of its answer.
func (q *Question) Asks() string { return q.Text + "\n" + q.Guidelines }

// Used returns the definitions whose term the question or its form uses, or that evidence quotes.
func (q *Question) Used() []Definition {
	return slices.DeleteFunc(slices.Clone(q.Definitions), func(d Definition) bool {
		quoted := func(r Reading) bool { return strings.Contains(r.Evidence, d.String()) }
		return !d.Used(q.Asks()) && !slices.ContainsFunc(q.Readings, quoted)
	})
}

package record

import (
	"strings"
	"time"

	"dsstar/agent/memory"
	"dsstar/agent/vary"
)

// Recalled is what a run was given of the memory of its data.
type Recalled struct {
	Facts   []memory.Fact `json:"facts,omitempty"`
	Imports []string      `json:"imports,omitempty"` // of the functions
	Tools   []memory.Tool `json:"tools,omitempty"`   // after the run, only those that its cells use

	// of the run whose notebook was run again in place of asking the model; zero: none was
	Asked time.Time `json:"asked,omitzero"`
	Spent Usage     `json:"spent,omitzero"` // what that run had used

	Varied *Variation `json:"varied,omitempty"` // nil: the run did not begin with a draft
}

// A Variation says from which question the first rounds of a run are taken: one of the same form, of
// which the values were replaced.
type Variation struct {
	Question string      `json:"question"`
	Asked    time.Time   `json:"asked"`
	Spent    Usage       `json:"spent"` // what its run had used
	Swaps    []vary.Swap `json:"swaps"`
	Rounds   int         `json:"rounds"` // that are taken from it
}

// String returns the values that were replaced, a line each.
func (v Variation) String() string {
	var all []string
	for _, s := range v.Swaps {
		all = append(all, s.From+" → "+s.To)
	}
	return strings.Join(all, "\n")
}

// AsVaried reports whether the run's rounds are those that were taken from another question.
func (t *Trajectory) AsVaried() bool {
	return t.Recalled != nil && t.Recalled.Varied != nil && len(t.Rounds) <= t.Recalled.Varied.Rounds
}

// Reused reports whether the run's cells are those of a run that has answered the question, or one of
// its form.
func (t *Trajectory) Reused() bool {
	return t.AsVaried() || t.Recalled != nil && !t.Recalled.Asked.IsZero()
}

// toolsCell returns the cell that defines the functions of memory; "" if there are none.
func (t *Trajectory) toolsCell() string {
	if t.Recalled == nil {
		return ""
	}
	source := memory.Module(t.Recalled.Imports, t.Recalled.Tools)
	if source == "" {
		return ""
	}
	return "# Functions that earlier questions about these data left.\n" + source
}

// UsedTools returns the functions of memory that the cells use, with those that these call.
func (t *Trajectory) UsedTools() []memory.Tool {
	if t.Recalled == nil {
		return nil
	}
	var cells []titled
	for k := range len(t.Earlier) + 1 {
		cells = append(cells, t.Part(k).own()...)
	}
	return memory.Needed(t.Recalled.Tools, strings.Join(codes(cells), "\n"))
}

// DropUnusedTools leaves the functions that no cell uses out of the notebook. The session must end,
// because it was built with them.
func (t *Trajectory) DropUnusedTools() {
	if t.Recalled != nil {
		used := *t.Recalled
		if used.Tools = t.UsedTools(); len(used.Tools) == 0 {
			used.Imports = nil
		}
		t.Recalled = &used
	}
}

// Learned is what a verified answer leaves for the memory of the data.
type Learned struct {
	Facts   []memory.Fact `json:"facts,omitempty"`
	Imports []string      `json:"imports,omitempty"`
	Tools   []memory.Tool `json:"tools,omitempty"`    // each gave the values of its cases in a fresh process
	LeftOut []string      `json:"left_out,omitempty"` // what was proposed and not admitted, with the reason
}

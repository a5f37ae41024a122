package solver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A turn is a reply of the model and its outcome.
type turn struct {
	title string
	said  string // the model's words
	shown string // the observation
	cell  string // the code that ran; "": none
	ran   notebook.Execution
}

// ended reports whether the turn's code ran to its end, or raised.
func (t turn) ended() bool {
	return t.ran.Status == notebook.OK || t.ran.Status == notebook.Raised
}

// A journal is everything that a baseline did. The notebook is drawn from it.
type journal struct {
	meta    recordMeta
	opening []string // cells before the first turn
	turns   []turn
	rounds  int // steps, messages or tasks, as the agent counts
	debug   int // repairs

	started time.Time
	kernel  ask.Stopwatch
	ended   bool
	failure string // what stopped the agent early, in one line
}

// recordMeta is the notebook's metadata under "dsstar".
type recordMeta struct {
	Version  int         `json:"version"`
	Agent    string      `json:"agent"`
	Options  Options     `json:"options,omitzero"`
	Task     record.Task `json:"task"`
	Sandbox  string      `json:"sandbox,omitempty"`
	Answer   string      `json:"answer"`
	Verified bool        `json:"verified"` // always false: only dsstar proves answers
	Finished bool        `json:"finished"`
}

// result summarizes the journal for a benchmark.
func (d *desk) result() runner.Record {
	spent := d.Spent()
	result := runner.Record{
		Answer: d.meta.Answer, Finished: d.meta.Finished, Rounds: d.rounds, DebugTries: d.debug,
		Seconds: record.Seconds{Total: time.Since(d.started).Seconds(), Model: spent.Model,
			Kernel: d.kernel.Seconds()},
		Usage: spent.Usage, ByRole: spent.ByRole, Cost: spent.Cost,
	}
	for _, t := range d.turns {
		if t.cell != "" {
			result.Executions++
		}
		if t.cell != "" && t.ran.Status != notebook.OK {
			result.Failed++
		}
	}
	return result
}

// draw returns the notebook. Run All runs what the agent ran, in order: cells that raised are
// tagged so that execution continues, and cells that were stopped, or ended the kernel, are
// not code cells.
func (r *journal) draw() *notebook.Notebook {
	cells := []notebook.Cell{text("question", "question", r.showQuestion())}
	for i, source := range r.opening {
		role := []string{"parameters", "setup", "actions"}[i]
		c := code(role, role, source, notebook.Execution{})
		if i == 0 {
			c.Metadata["tags"] = []string{"parameters"} // papermill's convention
		} else {
			c.Metadata["jupyter"] = map[string]any{"source_hidden": true}
		}
		cells = append(cells, c)
	}
	for i, t := range r.turns {
		cells = append(cells, t.draw(i+1)...)
	}
	if r.meta.Answer != "" {
		cells = append(cells, text("answer", "answer", "## Answer\n\n"+prompts.Fence(r.meta.Answer, "")))
	}
	for i, runs := 0, 0; i < len(cells); i++ {
		if c := &cells[i]; c.Type == notebook.Code {
			runs++
			c.ExecutionCount = runs
			for k := range c.Outputs {
				if c.Outputs[k].Type == notebook.ExecuteResult {
					c.Outputs[k].ExecutionCount = runs
				}
			}
		}
	}
	return &notebook.Notebook{Cells: cells, Metadata: map[string]any{
		"dsstar": r.meta,
		"kernelspec": map[string]any{
			"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
		"language_info": map[string]any{"name": "python"},
	}}
}

func (r *journal) showQuestion() string {
	m, state := r.meta, "… **Running**: this notebook is saved after every turn."
	switch {
	case r.failure != "":
		state = "✘ **Stopped**: " + page.Prose(r.failure)
	case r.ended && !m.Finished:
		state = "⚠ **Not finished**: the agent was at its limit."
	case r.ended:
		state = "**Finished** by the agent's own rule. Nobody has verified the answer."
	}
	text := fmt.Sprintf("# %s\n\n%s\n\n*Agent:* %s", strings.ReplaceAll(page.Prose(m.Task.Question),
		"\n\n", " "), state, m.Agent)
	if m.Task.Guidelines != "" {
		text += "\n\n*Form of the answer:* " + page.Prose(m.Task.Guidelines)
	}
	return text
}

// draw draws the reply, and the cell or the observation.
func (t turn) draw(n int) []notebook.Cell {
	said := fmt.Sprintf("## %s\n\n%s", page.Prose(t.title), page.Prose(t.said))
	if t.cell != "" && !t.ended() {
		said += fmt.Sprintf("\n\nThis code is no cell, since it was not run to its end: %s\n\n%s",
			page.Prose(t.ran.Reason), prompts.Fence(t.cell, "python"))
	}
	if t.shown != "" && !t.ended() {
		said += "\n\n" + prompts.Fence(t.shown, "")
	}
	cells := []notebook.Cell{text(fmt.Sprintf("turn-%d", n), "turn", said)}
	if !t.ended() {
		return cells
	}
	c := code(fmt.Sprintf("action-%d", n), "action", t.cell, t.ran)
	if t.ran.Status == notebook.Raised {
		// with this tag, JupyterLab and nbclient go on with the next cells
		c.Metadata["tags"] = []string{"raises-exception"}
	}
	return append(cells, c)
}

func text(id, role, source string) notebook.Cell {
	return notebook.Cell{ID: id, Type: notebook.Markdown, Source: strings.TrimSpace(source),
		Metadata: map[string]any{"dsstar": map[string]any{"role": role}}}
}

func code(id, role, source string, ran notebook.Execution) notebook.Cell {
	meta := map[string]any{"role": role}
	if ran.Status != "" {
		meta["status"] = string(ran.Status)
	}
	return notebook.Cell{ID: id, Type: notebook.Code, Source: source, Outputs: slices.Clone(ran.Outputs),
		Metadata: map[string]any{"dsstar": meta}}
}

package solver

import (
	"fmt"
	"strings"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A turn is a reply of the model and its outcome.
type turn struct {
	title string
	said  string // the model's words
	kind  string // of its action: "python", "bash", "sql", "answer", "terminate"; "": none
	shown string // the observation
	cell  string // the code that ran; "": none
	ran   notebook.Execution
}

// A journal is everything that a baseline did. The notebook is drawn from it.
type journal struct {
	meta    recordMeta
	opening []string // cells before the first turn
	turns   []turn
	rounds  int // steps, messages or tasks, as the agent counts
	debug   int // repairs

	started time.Time
	spent   ask.Spent
	kernel  time.Duration
	total   time.Duration
}

// recordMeta is the notebook's metadata under "dsstar".
type recordMeta struct {
	Version  int         `json:"version"`
	Agent    string      `json:"agent"`
	Options  Options     `json:"options,omitzero"`
	Task     record.Task `json:"task"`
	Sandbox  string      `json:"sandbox,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
	Models   []string    `json:"models,omitempty"`
	Answer   string      `json:"answer"`
	Verified bool        `json:"verified"` // always false: only dsstar proves answers
	Finished bool        `json:"finished"`
	Ended    bool        `json:"ended"`
	Failure  string      `json:"failure,omitempty"` // what stopped the agent early, in one line
}

// cellMeta is a cell's metadata under "dsstar".
type cellMeta struct {
	Role   string `json:"role"`
	Turn   int    `json:"turn,omitempty"`   // from 1
	Kind   string `json:"kind,omitempty"`   // of the action
	Status string `json:"status,omitempty"` // of its execution
	Reason string `json:"reason,omitempty"`
}

// draw returns the notebook. Run All runs what the agent ran, in order: cells that raised are
// tagged so that execution continues, and cells that were stopped, or ended the kernel, are
// not code cells.
func (r *journal) draw() *notebook.Notebook {
	d := &drawing{&notebook.Notebook{Metadata: map[string]any{
		"dsstar": r.meta,
		"kernelspec": map[string]any{
			"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
		"language_info": map[string]any{"name": "python"},
	}}, 0}
	d.markdown("question", cellMeta{Role: "question"}, r.showQuestion())
	for i, code := range r.opening {
		role := []string{"parameters", "setup", "actions"}[i]
		c := d.code(role, cellMeta{Role: role}, code, nil)
		if i == 0 {
			c.Metadata["tags"] = []string{"parameters"} // papermill's convention
		} else {
			c.Metadata["jupyter"] = map[string]any{"source_hidden": true}
		}
	}
	for i, t := range r.turns {
		d.turn(i+1, t)
	}
	if r.meta.Answer != "" {
		d.markdown("answer", cellMeta{Role: "answer"}, "## Answer\n\n"+prompts.Fence(r.meta.Answer, ""))
	}
	return d.nb
}

func (r *journal) showQuestion() string {
	m, state := r.meta, "… **Running**: this notebook is saved after every turn."
	switch {
	case m.Failure != "":
		state = "✘ **Stopped**: " + record.Prose(m.Failure)
	case m.Ended && !m.Finished:
		state = "⚠ **Not finished**: the agent was at its limit."
	case m.Ended:
		state = "**Finished** by the agent's own rule. Nobody has verified the answer."
	}
	text := fmt.Sprintf("# %s\n\n%s\n\n*Agent:* %s", strings.ReplaceAll(record.Prose(m.Task.Question),
		"\n\n", " "), state, m.Agent)
	if m.Task.Guidelines != "" {
		text += "\n\n*Form of the answer:* " + record.Prose(m.Task.Guidelines)
	}
	return text
}

// result summarizes the journal for a benchmark.
func (r *journal) result() runner.Record {
	result := runner.Record{
		Answer: r.meta.Answer, Finished: r.meta.Finished, Rounds: r.rounds, DebugTries: r.debug,
		Seconds: record.Seconds{Total: r.total.Seconds(), Model: r.spent.Model, Kernel: r.kernel.Seconds()},
		Usage:   r.spent.Usage, ByRole: r.spent.ByRole, Cost: r.spent.Cost,
	}
	for _, t := range r.turns {
		if t.cell != "" {
			result.Executions++
			if t.ran.Status != notebook.OK {
				result.Failed++
			}
		}
	}
	return result
}

// A drawing is a notebook being drawn.
type drawing struct {
	nb   *notebook.Notebook
	runs int // code cells so far: their execution counts are 1..N
}

func (d *drawing) markdown(id string, meta cellMeta, source string) {
	d.nb.Cells = append(d.nb.Cells, notebook.Cell{
		ID: id, Type: notebook.Markdown, Source: strings.TrimSpace(source), Metadata: map[string]any{"dsstar": meta},
	})
}

func (d *drawing) code(id string, meta cellMeta, source string,
	outputs []notebook.Output) *notebook.Cell {
	d.runs++
	c := notebook.Cell{ID: id, Type: notebook.Code, Source: source,
		Metadata: map[string]any{"dsstar": meta}, ExecutionCount: d.runs}
	for _, o := range outputs {
		if o.Type == notebook.ExecuteResult {
			o.ExecutionCount = d.runs
		}
		c.Outputs = append(c.Outputs, o)
	}
	d.nb.Cells = append(d.nb.Cells, c)
	return &d.nb.Cells[len(d.nb.Cells)-1]
}

// turn draws the reply, and the cell or the observation.
func (d *drawing) turn(n int, t turn) {
	meta := cellMeta{Role: "turn", Turn: n, Kind: t.kind}
	said := fmt.Sprintf("## %s\n\n%s", record.Prose(t.title), record.Prose(t.said))
	runs := t.ran.Status == notebook.OK || t.ran.Status == notebook.Raised
	if t.cell != "" && !runs {
		said += fmt.Sprintf("\n\nThis code is no cell, since it was not run to its end: %s\n\n%s",
			record.Prose(t.ran.Reason), prompts.Fence(t.cell, "python"))
	}
	if t.shown != "" && (t.cell == "" || !runs) {
		said += "\n\n" + prompts.Fence(t.shown, "")
	}
	d.markdown(fmt.Sprintf("turn-%d", n), meta, said)
	if t.cell == "" || !runs {
		return
	}
	meta.Role, meta.Status, meta.Reason = "action", string(t.ran.Status), t.ran.Reason
	c := d.code(fmt.Sprintf("action-%d", n), meta, t.cell, t.ran.Outputs)
	if t.ran.Status == notebook.Raised {
		// with this tag, JupyterLab and nbclient go on with the next cells
		c.Metadata["tags"] = []string{"raises-exception"}
	}
}

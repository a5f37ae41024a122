package solver

import (
	"fmt"
	"strings"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A turn is a reply of the model and its outcome.
type turn struct {
	title string
	reply string // in a conversation
	said  string // what the notebook shows of the reply
	cells []cell // that ran for it
	shown string // the observation, which is the next message of a conversation
}

// A cell is code that ran.
type cell struct {
	code string
	notebook.Execution
	shown string // its observation
}

// ended reports whether the cell ran to its end, or raised.
func (c cell) ended() bool { return c.Status == notebook.OK || c.Status == notebook.Raised }

// save writes the notebook. Run All runs what the agent ran, in order: cells that raised are tagged
// so that execution continues, and cells that were stopped, or ended the kernel, are not code
// cells.
func (d *desk) save() error {
	cells := []notebook.Cell{text("question", d.heading())}
	for i, source := range d.opening {
		c := code([]string{"parameters", "setup", "actions"}[i], source)
		if i == 0 {
			c.Metadata["tags"] = []string{"parameters"} // papermill's convention
		} else {
			c.Metadata["jupyter"] = map[string]any{"source_hidden": true}
		}
		cells = append(cells, c)
	}
	n := 0
	for i, t := range d.turns {
		cells = append(cells, text(fmt.Sprintf("turn-%d", i+1), t.inWords()))
		for _, c := range t.cells {
			if c.ended() {
				n++
				cells = append(cells, c.draw(n))
			}
		}
	}
	if d.answer != "" {
		cells = append(cells, text("answer", "## Answer\n\n"+prompts.Fence(d.answer, "")))
	}
	runs := 0
	for i := range cells {
		if c := &cells[i]; c.Type == notebook.Code {
			runs++
			c.ExecutionCount, c.Outputs = runs, record.Recounted(c.Outputs, runs)
		}
	}
	nb := &notebook.Notebook{Cells: cells, Metadata: map[string]any{
		"dsstar": map[string]any{"version": 1, "agent": d.Name, "options": d.options, "task": d.task,
			"sandbox": d.cfg.Sandbox, "answer": d.answer, "finished": d.finished,
			"verified": false}, // only dsstar proves answers
		"kernelspec": map[string]any{
			"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
		"language_info": map[string]any{"name": "python"},
	}}
	d.cfg.Key.Seal(nb)
	return nb.Save(record.Folder(d.cfg.Dir).Notebook())
}

// heading returns the question, with how far the agent came.
func (d *desk) heading() string {
	state := "… **Running**: this notebook is saved after every turn."
	switch {
	case d.failure != "":
		state = "✘ **Stopped**: " + page.Prose(d.failure)
	case d.ended && !d.finished:
		state = "⚠ **Not finished**: the agent was at its limit."
	case d.ended:
		state = "**Finished** by the agent's own rule. Nobody has verified the answer."
	}
	text := fmt.Sprintf("# %s\n\n%s\n\n*Agent:* %s", strings.ReplaceAll(page.Prose(d.task.Question),
		"\n\n", " "), state, d.Name)
	if d.task.Guidelines != "" {
		text += "\n\n*Form of the answer:* " + page.Prose(d.task.Guidelines)
	}
	return text
}

// inWords returns the reply, with the observation if no cell has it.
func (t turn) inWords() string {
	text := fmt.Sprintf("## %s\n\n%s", page.Prose(t.title), page.Prose(t.said))
	if t.cells == nil && t.shown != "" {
		text += "\n\n" + prompts.Fence(t.shown, "")
	}
	for _, c := range t.cells {
		if !c.ended() {
			text += fmt.Sprintf("\n\nThis code is no cell, since it was not run to its end: %s\n\n%s\n\n%s",
				page.Prose(c.Reason), prompts.Fence(c.code, "python"), prompts.Fence(c.shown, ""))
		}
	}
	return text
}

// draw draws a cell that ended.
func (c cell) draw(n int) notebook.Cell {
	drawn := code(fmt.Sprintf("action-%d", n), c.code)
	drawn.Outputs = c.Outputs
	drawn.Metadata["dsstar"] = map[string]any{"role": "action", "status": c.Status}
	if c.Status == notebook.Raised {
		// with this tag, JupyterLab and nbclient go on with the next cells
		drawn.Metadata["tags"] = []string{"raises-exception"}
	}
	return drawn
}

func text(id, source string) notebook.Cell {
	c := code(id, strings.TrimSpace(source))
	c.Type = notebook.Markdown
	return c
}

// code returns a code cell. Its role is its id without the number.
func code(id, source string) notebook.Cell {
	role, _, _ := strings.Cut(id, "-")
	return notebook.Cell{ID: id, Type: notebook.Code, Source: source,
		Metadata: map[string]any{"dsstar": map[string]any{"role": role}}}
}

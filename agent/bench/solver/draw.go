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
	said  string // the model's words
	shown string // the observation
	cell  string // the code that ran; "": none
	ran   notebook.Execution
}

// ended reports whether the turn's code ran to its end, or raised.
func (t turn) ended() bool {
	return t.ran.Status == notebook.OK || t.ran.Status == notebook.Raised
}

// save writes the notebook. Run All runs what the agent ran, in order: cells that raised are tagged so
// that execution continues, and cells that were stopped, or ended the kernel, are not code cells.
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
	for i, t := range d.turns {
		cells = append(cells, t.draw(i+1)...)
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
	cells := []notebook.Cell{text(fmt.Sprintf("turn-%d", n), said)}
	if !t.ended() {
		return cells
	}
	c := code(fmt.Sprintf("action-%d", n), t.cell)
	c.Outputs = t.ran.Outputs
	c.Metadata["dsstar"] = map[string]any{"role": "action", "status": t.ran.Status}
	if t.ran.Status == notebook.Raised {
		// with this tag, JupyterLab and nbclient go on with the next cells
		c.Metadata["tags"] = []string{"raises-exception"}
	}
	return append(cells, c)
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

// Package page draws the notebook of a run, and reads it back.
//
// The entry "dsstar" of the notebook's metadata holds the [record.Trajectory], except for outputs,
// which only the code cells hold. The metadata of each of dsstar's cells says what the cell shows
// and has a digest of the source as drawn. A cell whose source has another digest was edited by a
// person; a cell without such metadata is the person's own. [Draw] draws the notebook. [Read] reads
// the trajectory back and compares the cells with it: edits become a [record.Start].
package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// The roles of cells, under the metadata key "dsstar", beside those of package record.
const (
	roleQuestion = "question" // the answer, under a title
	roleReport   = "report"   // what the answer rests on
	roleAsked    = "asked"    // the question whole
	roleData     = "data"
	roleRound    = "round" // heading of an accepted step
	roleVerdict  = "verdict"
	roleAnswer   = "answer"   // heading of the last cell
	roleReadings = "readings" // the cells of other readings
	roleSecond   = "second"   // the second derivation
	roleTried    = "tried"    // failed attempts, and rounds without a cell
	roleProof    = "proof"
)

var codeRoles = []string{record.RoleParameters, record.RoleSetup, record.RoleTools,
	record.RoleVariables, record.RoleStep, record.RoleFinal}

// version is that of the notebook's metadata.
const version = 3

// notebookMeta is the notebook's metadata under "dsstar".
type notebookMeta struct {
	Version    int             `json:"version"`
	Agent      string          `json:"agent,omitempty"` // not dsstar: see agent/bench/solver
	Answer     string          `json:"answer"`
	Verified   bool            `json:"verified"`
	Trajectory json.RawMessage `json:"trajectory"` // without the outputs that cells show
}

func newMeta(t *record.Trajectory) *notebookMeta {
	bare := *t
	bare.Questions = slices.Clone(t.Questions)
	for k, q := range t.Questions {
		bare.Questions[k] = q.WithoutShown(t.Method.Script)
	}
	data, err := json.Marshal(&bare)
	if err != nil {
		panic(err) // not plain data
	}
	return &notebookMeta{Version: version, Agent: t.Method.Agent, Answer: t.Answer(),
		Verified: t.Verified(), Trajectory: data}
}

// A Meta is a cell's metadata under "dsstar": which part of the trajectory it shows.
type Meta struct {
	Role   string `json:"role,omitempty"`
	Round  int    `json:"round,omitempty"`  // by its number in the part
	Part   int    `json:"part,omitempty"`   // from 2; the first has none
	Digest string `json:"digest,omitempty"` // of the source as it was drawn
	After  string `json:"after,omitempty"`  // on a person's cell: see Remark
}

func (m Meta) id() string {
	id := m.Role
	for _, n := range []int{m.Part, m.Round} {
		if n > 0 {
			id += fmt.Sprintf("-%d", n)
		}
	}
	return id
}

// Draw draws the notebook of a trajectory, finished or not. Run All runs only the accepted cells:
// what was discarded is Markdown. Two runs that do the same differ only in the last cell.
func Draw(t *record.Trajectory) *notebook.Notebook {
	d := &drawing{t: t, left: slices.Clone(t.Remarks)}
	d.remarks("")
	d.sections(partOf(t, 0), roleQuestion, roleReport, roleAsked)
	d.section(Meta{Role: roleData}, part{t, t})
	for _, c := range t.Opening() {
		d.code(Meta{Role: c.Role}, record.Attempt{Code: c.Code})
	}
	for k := range t.Questions {
		d.part(partOf(t, k))
	}
	d.section(Meta{Role: roleProof}, part{t, t})
	for _, r := range d.left { // whose places are not drawn
		meta := map[string]any{"dsstar": Meta{After: r.After}}
		maps.Copy(meta, r.Cell.Metadata)
		r.Cell.Metadata = meta
		d.cells = append(d.cells, r.Cell)
	}
	return &notebook.Notebook{Cells: d.cells, Metadata: map[string]any{
		"dsstar": newMeta(t),
		"kernelspec": map[string]any{
			"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python",
		},
		"language_info": map[string]any{
			"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3",
		},
	}}
}

// meta returns the metadata of a cell of the part. The first has no number.
func (p part) meta(role string) Meta {
	if p.First() {
		return Meta{Role: role}
	}
	return Meta{Role: role, Part: p.Number()}
}

// A drawing is a notebook being drawn.
type drawing struct {
	t     *record.Trajectory
	cells []notebook.Cell
	left  []record.Remark // that have no place yet
	runs  int             // code cells so far: their execution counts are 1..N
}

func (d *drawing) add(c notebook.Cell, meta Meta) {
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	c.ID, meta.Digest = meta.id(), record.Digest(c.Source)
	c.Metadata["dsstar"] = meta
	d.cells = append(d.cells, c)
	d.remarks(c.ID)
}

// remarks adds the person's cells that stand after one of dsstar's.
func (d *drawing) remarks(after string) {
	d.left = slices.DeleteFunc(d.left, func(r record.Remark) bool {
		if r.After == after {
			d.cells = append(d.cells, r.Cell)
		}
		return r.After == after
	})
}

func (d *drawing) code(meta Meta, a record.Attempt) {
	c := notebook.Cell{Type: notebook.Code, Source: a.Code, Metadata: map[string]any{}}
	switch meta.Role {
	case record.RoleParameters:
		c.Metadata["tags"] = []string{"parameters"} // papermill's convention
	case record.RoleSetup, record.RoleVariables:
		c.Metadata["jupyter"] = map[string]any{"source_hidden": true}
	}
	if a.Kept {
		c.Metadata["tags"] = []string{"raises-exception"} // JupyterLab and nbclient then go on
	}
	d.runs++
	if d.t.Environment != "" || d.t.Method.Agent != "" { // else nothing has run
		c.ExecutionCount = d.runs
	}
	c.Outputs = record.Recounted(a.Execution.Outputs, d.runs)
	d.add(c, meta)
}

// sections draws Markdown cells of a part, but for empty ones.
func (d *drawing) sections(p part, roles ...string) {
	for _, role := range roles {
		d.section(p.meta(role), p)
	}
}

// section draws a Markdown cell, unless it is empty. The template of its role draws it from data.
func (d *drawing) section(meta Meta, data any) {
	c := notebook.Cell{Type: notebook.Markdown, Source: text(meta.Role, data)}
	if p, is := data.(part); is && meta.Role == roleReport {
		c.Attachments = p.Chart()
	}
	if c.Source != "" {
		d.add(c, meta)
	}
}

// part draws how the answer of a part was found: the accepted steps in the order of the plan, then
// what was tried beside them.
func (d *drawing) part(p part) {
	if !p.First() {
		d.sections(p, roleQuestion, roleReport, roleAsked)
	}
	for _, r := range p.Drawn(p.Method.Script) {
		d.accepted(p, *r)
	}
	if p.Final != nil && p.Method.Agent == "" {
		d.sections(p, roleAnswer)
		if good := p.FinalCell(); good.IsCell() {
			d.code(p.meta(record.RoleFinal), good)
		}
	}
	d.sections(p, roleReadings, roleSecond, roleTried)
}

// accepted draws a round whose cell is a step.
func (d *drawing) accepted(p part, r record.Round) {
	meta := p.meta(roleRound)
	meta.Round = r.Number
	shown := turn{Round: r, Old: r.Given && p.Last() != nil && p.Last().Number != r.Number}
	shown.Number += p.Before()
	d.section(meta, shown)
	meta.Role = record.RoleStep
	d.code(meta, r.Attempts[len(r.Attempts)-1])
	if meta.Role = roleVerdict; r.Verdict != nil {
		d.section(meta, shown)
	}
}

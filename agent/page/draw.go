// Package page draws the notebook of a run, and reads it back.
//
// The entry "dsstar" of the notebook's metadata holds the [record.Trajectory], except for outputs,
// which only the code cells hold. The metadata of each of dsstar's cells says what the cell shows
// and has a digest of the source as drawn. A cell whose source has another digest was edited by a
// person; a cell without such metadata is the person's own. [Draw] draws the notebook. [Read] reads
// the trajectory back and compares the cells with it: edits become the last [record.Round], with a
// [record.Edit].
package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	roleStep     = "step"
	roleVerdict  = "verdict"
	roleAnswer   = "answer" // heading of the last cell
	roleFinal    = "final"
	roleReadings = "readings" // the cells of other readings
	roleSecond   = "second"   // the second derivation
	roleTried    = "tried"    // failed attempts, and rounds without a cell
	roleProof    = "proof"
)

var codeRoles = []string{record.RoleParameters, record.RoleSetup, record.RoleTools, record.RoleVariables,
	roleStep, roleFinal}

// notebookMeta is the notebook's metadata under "dsstar".
type notebookMeta struct {
	Version    int                `json:"version"`
	Agent      string             `json:"agent,omitempty"` // another than dsstar: see agent/bench/solver
	Answer     string             `json:"answer"`
	Verified   bool               `json:"verified"`
	Sufficient bool               `json:"sufficient"`
	Rounds     int                `json:"rounds"`
	Trajectory *record.Trajectory `json:"trajectory"` // without the outputs that cells show
}

func newMeta(t *record.Trajectory) *notebookMeta {
	return &notebookMeta{
		Version: 2, Answer: t.Answer(), Verified: t.Verified(), Sufficient: t.Sufficient(),
		Rounds: len(t.Rounds), Trajectory: withoutShown(t),
	}
}

// cellMeta is a cell's metadata under "dsstar": which part of the trajectory it shows.
type cellMeta struct {
	Role   string `json:"role,omitempty"`
	Round  int    `json:"round,omitempty"`
	Step   int    `json:"step,omitempty"`
	Part   int    `json:"part,omitempty"`   // from 2; the first has none
	Digest string `json:"digest,omitempty"` // of the source as it was drawn
	After  string `json:"after,omitempty"`  // on a person's cell: see Remark
}

// Draw draws the notebook of a trajectory, finished or not. Run All runs only the accepted cells:
// what was discarded is Markdown. Two runs that do the same differ only in the last cell.
func Draw(t *record.Trajectory) *notebook.Notebook {
	d := &drawing{t: t, nb: &notebook.Notebook{}, drew: make([]bool, len(t.Remarks))}
	d.nb.Metadata = map[string]any{
		"dsstar": newMeta(t),
		"kernelspec": map[string]any{
			"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python",
		},
		"language_info": languageInfo(t.Environment),
	}
	d.kept("")
	d.report(0)
	d.markdown("data", cellMeta{Role: roleData}, showData(t))
	for _, c := range t.Opening() {
		d.code(c.Role, cellMeta{Role: c.Role}, record.Attempt{Code: c.Code})
	}
	for k := range len(t.Earlier) + 1 {
		d.part(k)
	}
	d.markdown("proof", cellMeta{Role: roleProof}, showProof(t))
	d.keptElsewhere()
	return d.nb
}

// withoutShown returns a copy of the trajectory without the outputs that cells show.
func withoutShown(t *record.Trajectory) *record.Trajectory {
	bare := *t
	bare.Rounds, bare.Earlier = slices.Clone(t.Rounds), slices.Clone(t.Earlier)
	for k := range len(t.Earlier) + 1 {
		for _, i := range t.Part(k).CellRounds() {
			bare.Rounds[i].Attempts = withoutLastOutputs(t.Rounds[i].Attempts)
		}
	}
	for k := range bare.Earlier {
		bare.Earlier[k].Final = finalWithoutShown(bare.Earlier[k].Final)
	}
	bare.Final = finalWithoutShown(t.Final)
	return &bare
}

func finalWithoutShown(f *record.Final) *record.Final {
	if f == nil {
		return nil
	}
	bare := *f
	if _, ok := record.Accepted(f.Attempts); ok {
		bare.Attempts = withoutLastOutputs(f.Attempts)
	}
	return &bare
}

func withoutLastOutputs(attempts []record.Attempt) []record.Attempt {
	attempts = slices.Clone(attempts)
	if n := len(attempts); n > 0 {
		attempts[n-1].Execution.Outputs = nil
	}
	return attempts
}

// languageInfo returns the language_info that ipykernel reports, so that opening the notebook
// does not change it.
func languageInfo(environment string) map[string]any {
	info := map[string]any{
		"name": "python", "file_extension": ".py", "mimetype": "text/x-python",
		"codemirror_mode":    map[string]any{"name": "ipython", "version": 3},
		"nbconvert_exporter": "python", "pygments_lexer": "ipython3",
	}
	if words := strings.Fields(environment); len(words) > 1 && words[0] == "Python" {
		info["version"] = words[1]
	}
	return info
}

// A drawing is a notebook being drawn.
type drawing struct {
	t    *record.Trajectory
	nb   *notebook.Notebook
	runs int    // code cells so far: their execution counts are 1..N
	drew []bool // of t.Remarks
}

func (d *drawing) markdown(id string, meta cellMeta, source string) {
	d.add(notebook.Cell{ID: id, Type: notebook.Markdown, Source: strings.TrimSpace(source)}, meta)
}

// add adds a cell and the person's own cells after it.
func (d *drawing) add(c notebook.Cell, meta cellMeta) {
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	meta.Digest = record.Digest(c.Source)
	c.Metadata["dsstar"] = meta
	d.nb.Cells = append(d.nb.Cells, c)
	d.kept(c.ID)
}

// kept draws the person's own cells that follow the cell with the id.
func (d *drawing) kept(id string) {
	for i, k := range d.t.Remarks {
		if k.After == id && !d.drew[i] {
			d.drew[i] = true
			d.nb.Cells = append(d.nb.Cells, k.Cell)
		}
	}
}

// keptElsewhere draws the person's cells whose predecessor is not drawn.
func (d *drawing) keptElsewhere() {
	for i, k := range d.t.Remarks {
		if !d.drew[i] {
			k.Cell.Metadata = maps.Clone(k.Cell.Metadata)
			if k.Cell.Metadata == nil {
				k.Cell.Metadata = map[string]any{}
			}
			k.Cell.Metadata["dsstar"] = cellMeta{After: k.After}
			d.nb.Cells = append(d.nb.Cells, k.Cell)
		}
	}
}

// longOutput is the number of lines above which an output scrolls.
const longOutput = 100

func (d *drawing) code(id string, meta cellMeta, a record.Attempt) {
	c := notebook.Cell{ID: id, Type: notebook.Code, Source: a.Code, Metadata: map[string]any{}}
	switch meta.Role {
	case record.RoleParameters:
		c.Metadata["tags"] = []string{"parameters"} // papermill's convention
	case record.RoleSetup, record.RoleVariables:
		c.Metadata["jupyter"] = map[string]any{"source_hidden": true}
	}
	if strings.Count(a.Execution.PlainText(), "\n") > longOutput {
		c.Metadata["scrolled"] = true // JupyterLab's: in a box of its own
	}
	d.runs++
	if d.t.Environment != "" {
		c.ExecutionCount = d.runs
	}
	c.Outputs = record.Recounted(a.Execution.Outputs, d.runs)
	d.add(c, meta)
}

// report draws the cells that say what was asked in part k, and what came out.
func (d *drawing) report(k int) {
	meta := cellMeta{Part: partNumber(k)}
	meta.Role = roleQuestion
	d.markdown(record.PartID(roleQuestion, k), meta, showQuestion(d.t, k))
	if text, attached := showReport(d.t, k); text != "" {
		meta.Role = roleReport
		d.add(notebook.Cell{ID: record.PartID(roleReport, k), Type: notebook.Markdown,
			Source: strings.TrimSpace(text), Attachments: attached}, meta)
	}
	d.section(roleAsked, k, showAsked(d.t, k))
}

// section draws a Markdown cell of part k, unless it is empty.
func (d *drawing) section(role string, k int, text string) {
	if text != "" {
		d.markdown(record.PartID(role, k), cellMeta{Role: role, Part: partNumber(k)}, text)
	}
}

// partNumber is the number of part k in metadata. The first has none.
func partNumber(k int) int {
	if k == 0 {
		return 0
	}
	return k + 1
}

// part draws how the answer of part k was found: the accepted steps in the order of the plan, then
// what was tried beside them.
func (d *drawing) part(k int) {
	t := d.t.Part(k)
	if k > 0 {
		d.report(k)
	}
	for n, i := range t.CellRounds() {
		if t.Method.Script {
			n = t.StepOf(i) - 1
		}
		d.accepted(i+1, n+1, t.Rounds[i], editedAfter(t, i))
	}
	if t.Final != nil {
		d.section(roleAnswer, k, "## Answer\n")
		if good, ok := t.FinalCell(); ok {
			d.code(record.PartID(roleFinal, k), cellMeta{Role: roleFinal, Part: partNumber(k)}, good)
		}
	}
	d.section(roleReadings, k, showReadings(t))
	d.section(roleSecond, k, showSecond(t))
	d.section(roleTried, k, showTried(t))
}

// editedAfter reports whether a person, or new data, have changed cells of the last part after
// round i.
func editedAfter(t *record.Trajectory, i int) bool {
	return slices.ContainsFunc(t.Rounds[i+1:], func(r record.Round) bool { return r.Edit != nil })
}

// accepted draws a step. A verdict from before an edit is told from those that count.
func (d *drawing) accepted(n, step int, round record.Round, old bool) {
	good, _ := lastAndRest(round.Attempts)
	meta := cellMeta{Role: roleRound, Round: n, Step: step}
	d.markdown(fmt.Sprintf("round-%d", n), meta, showStep(step, round))
	meta.Role = roleStep
	d.code(fmt.Sprintf("step-%d", n), meta, good)
	if round.Verdict != nil {
		meta = cellMeta{Role: roleVerdict, Round: n}
		text := showVerdict(n, round)
		if old {
			text = "*Before cells were changed, or ran again:*\n\n" + text
		}
		d.markdown(fmt.Sprintf("verdict-%d", n), meta, text)
	}
}

func lastAndRest(attempts []record.Attempt) (last record.Attempt, rest []record.Attempt) {
	n := len(attempts) - 1
	return attempts[n], attempts[:n]
}

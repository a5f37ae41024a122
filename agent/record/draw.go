package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook"
)

// The roles of cells, under the metadata key "dsstar".
const (
	roleQuestion   = "question" // the answer, under a title
	roleReport     = "report"   // what the answer rests on
	roleAsked      = "asked"    // the question whole
	roleData       = "data"
	roleParameters = "parameters"
	roleSetup      = "setup"
	roleTools      = "tools"     // defines the functions of memory that the cells use
	roleVariables  = "variables" // loads what the cells use of somebody's session
	roleRound      = "round"     // heading of an accepted step
	roleStep       = "step"
	roleVerdict    = "verdict"
	roleAnswer     = "answer" // heading of the last cell
	roleFinal      = "final"
	roleReadings   = "readings" // the cells of other readings
	roleSecond     = "second"   // the second derivation
	roleTried      = "tried"    // failed attempts, and rounds without a cell
	roleProof      = "proof"
)

var codeRoles = []string{roleParameters, roleSetup, roleTools, roleVariables, roleStep, roleFinal}

// notebookMeta is the notebook's metadata under "dsstar".
type notebookMeta struct {
	Version    int         `json:"version"`
	Agent      string      `json:"agent,omitempty"` // another than dsstar: see agent/bench/solver
	Answer     string      `json:"answer"`
	Verified   bool        `json:"verified"`
	Sufficient bool        `json:"sufficient"`
	Rounds     int         `json:"rounds"`
	Trajectory *Trajectory `json:"trajectory"` // without the outputs that cells show
}

func newMeta(t *Trajectory) *notebookMeta {
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
func Draw(t *Trajectory) *notebook.Notebook {
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
		d.code(c.role, cellMeta{Role: c.role}, Attempt{Code: c.code})
	}
	for k := range len(t.Earlier) + 1 {
		d.part(k)
	}
	d.markdown("proof", cellMeta{Role: roleProof}, showProof(t))
	d.keptElsewhere()
	return d.nb
}

// withoutShown returns a copy of the trajectory without the outputs that cells show.
func withoutShown(t *Trajectory) *Trajectory {
	bare := *t
	bare.Rounds, bare.Earlier = slices.Clone(t.Rounds), slices.Clone(t.Earlier)
	for k := range len(t.Earlier) + 1 {
		for _, i := range t.Part(k).CellRounds() {
			bare.Rounds[i].Attempts = withoutLastOutputs(t.Rounds[i].Attempts)
		}
	}
	for k := range bare.Earlier {
		bare.Earlier[k].Final = bare.Earlier[k].Final.withoutShown()
	}
	bare.Final = t.Final.withoutShown()
	return &bare
}

func (f *Final) withoutShown() *Final {
	if f == nil {
		return nil
	}
	bare := *f
	if _, ok := accepted(f.Attempts); ok {
		bare.Attempts = withoutLastOutputs(f.Attempts)
	}
	return &bare
}

func withoutLastOutputs(attempts []Attempt) []Attempt {
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
	t    *Trajectory
	nb   *notebook.Notebook
	runs int    // code cells so far: their execution counts are 1..N
	drew []bool // of t.Remarks
}

// Digest returns the hash by which an edited source is recognized.
func Digest(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:6])
}

func (d *drawing) markdown(id string, meta cellMeta, source string) {
	d.add(notebook.Cell{ID: id, Type: notebook.Markdown, Source: strings.TrimSpace(source)}, meta)
}

// add adds a cell and the person's own cells after it.
func (d *drawing) add(c notebook.Cell, meta cellMeta) {
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	meta.Digest = Digest(c.Source)
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

func (d *drawing) code(id string, meta cellMeta, a Attempt) {
	c := notebook.Cell{ID: id, Type: notebook.Code, Source: a.Code, Metadata: map[string]any{}}
	switch meta.Role {
	case roleParameters:
		c.Metadata["tags"] = []string{"parameters"} // papermill's convention
	case roleSetup, roleVariables:
		c.Metadata["jupyter"] = map[string]any{"source_hidden": true}
	}
	if strings.Count(a.Execution.PlainText(), "\n") > longOutput {
		c.Metadata["scrolled"] = true // JupyterLab's: in a box of its own
	}
	d.runs++
	if d.t.Environment != "" {
		c.ExecutionCount = d.runs
	}
	c.Outputs = recounted(a.Execution.Outputs, d.runs)
	d.add(c, meta)
}

// recounted returns the outputs with another execution count.
func recounted(outputs []notebook.Output, count int) []notebook.Output {
	outputs = slices.Clone(outputs)
	for i := range outputs {
		if outputs[i].Type == notebook.ExecuteResult {
			outputs[i].ExecutionCount = count
		}
	}
	return outputs
}

// report draws the cells that say what was asked in part k, and what came out.
func (d *drawing) report(k int) {
	meta := cellMeta{Part: partNumber(k)}
	meta.Role = roleQuestion
	d.markdown(partID(roleQuestion, k), meta, showQuestion(d.t, k))
	if text, attached := showReport(d.t, k); text != "" {
		meta.Role = roleReport
		d.add(notebook.Cell{ID: partID(roleReport, k), Type: notebook.Markdown,
			Source: strings.TrimSpace(text), Attachments: attached}, meta)
	}
	d.section(roleAsked, k, showAsked(d.t, k))
}

// section draws a Markdown cell of part k, unless it is empty.
func (d *drawing) section(role string, k int, text string) {
	if text != "" {
		d.markdown(partID(role, k), cellMeta{Role: role, Part: partNumber(k)}, text)
	}
}

// partNumber is the number of part k in metadata. The first has none.
func partNumber(k int) int {
	if k == 0 {
		return 0
	}
	return k + 1
}

// partID is the id of a cell of part k.
func partID(role string, k int) string {
	if k == 0 {
		return role
	}
	return fmt.Sprintf("%s-%d", role, k+1)
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
		d.accepted(i+1, n+1, t.Rounds[i], t.editedAfter(i))
	}
	if t.Final != nil {
		d.section(roleAnswer, k, "## Answer\n")
		if good, ok := t.FinalCell(); ok {
			d.code(partID(roleFinal, k), cellMeta{Role: roleFinal, Part: partNumber(k)}, good)
		}
	}
	d.section(roleReadings, k, showReadings(t))
	d.section(roleSecond, k, showSecond(t))
	d.section(roleTried, k, showTried(t))
}

// editedAfter reports whether a person, or new data, have changed cells of the last part after
// round i.
func (t *Trajectory) editedAfter(i int) bool {
	return slices.ContainsFunc(t.Rounds[i+1:], func(r Round) bool { return r.Edit != nil })
}

// accepted draws a step. A verdict from before an edit is told from those that count.
func (d *drawing) accepted(n, step int, round Round, old bool) {
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

func lastAndRest(attempts []Attempt) (last Attempt, rest []Attempt) {
	n := len(attempts) - 1
	return attempts[n], attempts[:n]
}

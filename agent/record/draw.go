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

// The roles of cells, under the metadata key "dsstar". Every piece of the
// trajectory is in exactly one cell, so that reading the notebook back loses
// nothing: code and outputs of accepted cells in the cells themselves, all
// else in the metadata of the cell that shows it.
const (
	roleQuestion   = "question"
	roleData       = "data"
	roleParameters = "parameters"
	roleSetup      = "setup"
	roleVariables  = "variables" // loads what the cells take from somebody's session
	roleRound      = "round"     // heading of an accepted step, with its failed attempts
	roleDropped    = "dropped"   // a round that has left no cell
	roleStep       = "step"
	roleVerdict    = "verdict"
	roleAnswer     = "answer" // heading of the last cell, with its failed attempts
	roleFinal      = "final"
	roleProof      = "proof"
)

// cellMeta is what a cell's metadata holds under "dsstar".
type cellMeta struct {
	Role         string              `json:"role"`
	Round        int                 `json:"round,omitempty"`
	Step         int                 `json:"step,omitempty"`
	Part         int                 `json:"part,omitempty"` // from 2; the first has none
	Record       *Round              `json:"record,omitempty"`
	Descriptions []Description       `json:"descriptions,omitempty"`
	Variables    []Variable          `json:"variables,omitempty"`
	Final        *Final              `json:"final,omitempty"`
	Execution    *notebook.Execution `json:"execution,omitempty"` // without its outputs
	Measured     *measured           `json:"measured,omitempty"`
	Digest       string              `json:"digest,omitempty"` // of the source, where an edit counts
	After        string              `json:"after,omitempty"`  // of a person's own cell whose place is not there: see Kept
}

// notebookMeta is what the notebook's metadata holds under "dsstar".
type notebookMeta struct {
	Version int    `json:"version"`
	Agent   string `json:"agent,omitempty"` // that is not the loop: see package agent/bench/solver
	*Trajectory
	Answer     string  `json:"answer"`
	Verified   bool    `json:"verified"`
	Sufficient bool    `json:"sufficient"`
	Plans      [][]int `json:"plans"` // rounds, from 1: what shows which cells are there no more
	Last       int     `json:"rounds"`
}

// Draw draws the notebook of a trajectory, finished or not. Run All runs the
// accepted cells and nothing else: what was discarded is Markdown. What differs
// between two runs that do the same is in the last cell and nowhere else.
func Draw(t *Trajectory) *notebook.Notebook {
	all := t
	t, times := t.withoutTimes()
	d := &drawing{t: t, nb: &notebook.Notebook{}}
	d.nb.Metadata = map[string]any{
		"dsstar":        notebookMeta{1, "", t, t.Answer(), t.Verified(), t.Sufficient(), t.plans(), len(t.Rounds)},
		"kernelspec":    map[string]any{"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
		"language_info": languageInfo(t.Environment),
	}
	d.kept("")
	d.markdown("question", cellMeta{Role: roleQuestion}, showTop(t))
	d.markdown("data", cellMeta{Role: roleData, Descriptions: t.Descriptions, Variables: t.Variables}, showData(t))
	ran := notebook.Execution{Status: notebook.OK}
	for i, c := range t.Opening() {
		role := []string{roleParameters, roleSetup, roleVariables}[i]
		d.code(role, cellMeta{Role: role}, Attempt{Code: c.code, Execution: ran})
	}
	for k := range len(t.Earlier) + 1 {
		d.part(k)
	}
	d.markdown("proof", cellMeta{Role: roleProof, Measured: times}, showProof(all))
	d.keptElsewhere()
	return d.nb
}

// plans returns the plans of all parts.
func (t *Trajectory) plans() [][]int {
	var all [][]int
	for k := range len(t.Earlier) + 1 {
		all = append(all, Numbers(t.Part(k).Plan()))
	}
	return all
}

// languageInfo is what an ipykernel says of its language: a notebook that has
// it already is not changed by being opened.
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

// A drawing is a notebook under way.
type drawing struct {
	t    *Trajectory
	nb   *notebook.Notebook
	runs int    // code cells so far: their execution counts are 1..N
	drew []bool // of t.Kept
}

// digest tells whether a source is still what it was.
func digest(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:6])
}

func (d *drawing) markdown(id string, meta cellMeta, source string) {
	source = strings.TrimSpace(source)
	meta.Digest = digest(source)
	d.add(notebook.Cell{ID: id, Type: notebook.Markdown, Source: source, Metadata: map[string]any{"dsstar": meta}})
}

func (d *drawing) add(c notebook.Cell) {
	d.nb.Cells = append(d.nb.Cells, c)
	d.kept(c.ID)
}

// kept draws the person's own cells that stand after the cell id.
func (d *drawing) kept(id string) {
	if d.drew == nil {
		d.drew = make([]bool, len(d.t.Kept))
	}
	for i, k := range d.t.Kept {
		if k.After == id && !d.drew[i] {
			d.drew[i] = true
			d.nb.Cells = append(d.nb.Cells, k.Cell)
		}
	}
}

// keptElsewhere draws those whose place is not there now.
func (d *drawing) keptElsewhere() {
	for i, k := range d.t.Kept {
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

// longOutput is how many lines of output a cell may show at once.
const longOutput = 100

func (d *drawing) code(id string, meta cellMeta, a Attempt) {
	c := notebook.Cell{ID: id, Type: notebook.Code, Source: a.Code, Metadata: map[string]any{}}
	meta.Digest = digest(a.Code)
	switch meta.Role {
	case roleParameters:
		c.Metadata["tags"] = []string{"parameters"} // papermill's convention
	case roleSetup, roleVariables:
		c.Metadata["jupyter"] = map[string]any{"source_hidden": true}
	default:
		bare := a.Execution
		bare.Outputs = nil
		meta.Execution = &bare
	}
	c.Metadata["dsstar"] = meta
	if strings.Count(a.Execution.PlainText(), "\n") > longOutput {
		c.Metadata["scrolled"] = true // JupyterLab's: in a box of its own
	}
	d.runs++
	if d.t.Environment != "" {
		c.ExecutionCount = d.runs
	}
	for _, o := range a.Execution.Outputs {
		if o.Type == notebook.ExecuteResult {
			o.ExecutionCount = d.runs
		}
		c.Outputs = append(c.Outputs, o)
	}
	d.add(c)
}

// part draws a question's rounds, in the order of its plan: those that have left
// no cell stand where they happened.
func (d *drawing) part(k int) {
	t := d.t.Part(k)
	suffix := ""
	if k > 0 {
		suffix = fmt.Sprintf("-%d", k+1)
		d.markdown("question"+suffix, cellMeta{Role: roleQuestion, Part: k + 1}, showQuestion(t))
	}
	cells := t.CellRounds()
	next := t.EarlierRounds()
	others := func(until int) {
		for ; next < until; next++ {
			if !slices.Contains(cells, next) {
				round := t.Rounds[next]
				d.markdown(fmt.Sprintf("round-%d", next+1), cellMeta{Role: roleDropped, Round: next + 1, Record: &round}, showDropped(t, next))
			}
		}
	}
	for n, i := range cells {
		others(i)
		if t.Method.Script {
			n = t.StepOf(i) - 1
		}
		d.accepted(i+1, n+1, t.Rounds[i])
	}
	others(len(t.Rounds))
	if t.Final != nil {
		d.final(t, k+1, suffix)
	}
}

func (d *drawing) accepted(n, step int, round Round) {
	good, _ := round.Accepted()
	rest := round
	rest.Attempts = round.Attempts[:len(round.Attempts)-1]
	d.markdown(fmt.Sprintf("round-%d", n), cellMeta{Role: roleRound, Round: n, Step: step, Record: &rest}, showStep(step, rest))
	d.code(fmt.Sprintf("step-%d", n), cellMeta{Role: roleStep, Round: n, Step: step}, good)
	if round.Verdict != nil {
		d.markdown(fmt.Sprintf("verdict-%d", n), cellMeta{Role: roleVerdict, Round: n}, showVerdict(n, round))
	}
}

func (d *drawing) final(t *Trajectory, part int, suffix string) {
	if part == 1 {
		part = 0
	}
	rest := *t.Final
	good, ok := t.FinalCell()
	if ok {
		rest.Attempts = t.Final.Attempts[:len(t.Final.Attempts)-1]
	}
	d.markdown("answer"+suffix, cellMeta{Role: roleAnswer, Part: part, Final: &rest}, "## Answer\n"+showFailed(Round{Attempts: rest.Attempts, Returns: rest.Returns}))
	if ok {
		d.code("final"+suffix, cellMeta{Role: roleFinal, Part: part}, good)
	}
}

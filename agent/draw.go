package agent

import (
	"encoding/json"
	"fmt"
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
	roleDropped    = "dropped"   // a round whose step is not in the plan
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
	Record       *Round              `json:"record,omitempty"`
	Descriptions []Description       `json:"descriptions,omitempty"`
	Variables    []Variable          `json:"variables,omitempty"`
	Final        *Final              `json:"final,omitempty"`
	Execution    *notebook.Execution `json:"execution,omitempty"` // without its outputs
}

// notebookMeta is what the notebook's metadata holds under "dsstar".
type notebookMeta struct {
	Version int `json:"version"`
	*Trajectory
	Answer     string `json:"answer"`
	Verified   bool   `json:"verified"`
	Sufficient bool   `json:"sufficient"`
}

// Draw draws the notebook of a trajectory, finished or not. Run All runs the
// accepted cells and nothing else: what was discarded is Markdown.
func Draw(t *Trajectory) *notebook.Notebook {
	d := &drawing{t: t, nb: &notebook.Notebook{}}
	d.nb.Metadata = map[string]any{
		"dsstar":        notebookMeta{1, t, t.Answer(), t.Verified(), t.Sufficient()},
		"kernelspec":    map[string]any{"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
		"language_info": languageInfo(t.Environment),
	}
	d.markdown("question", cellMeta{Role: roleQuestion}, showQuestion(t))
	d.markdown("data", cellMeta{Role: roleData, Descriptions: t.Descriptions, Variables: t.Variables}, showData(t))
	ran := notebook.Execution{Status: notebook.OK}
	d.code("parameters", cellMeta{Role: roleParameters}, Attempt{parametersCell(t.Task), ran})
	d.code("setup", cellMeta{Role: roleSetup}, Attempt{setUpCell(t.Task), ran})
	if code := t.variablesCell(); code != "" {
		d.code("variables", cellMeta{Role: roleVariables}, Attempt{code, ran})
	}
	cells := t.cellRounds()
	for i, round := range t.Rounds {
		if slices.Contains(cells, i) {
			d.accepted(i+1, t.stepOf(i), round)
		} else {
			d.markdown(fmt.Sprintf("round-%d", i+1), cellMeta{Role: roleDropped, Round: i + 1, Record: &round}, showDropped(t, i))
		}
	}
	if t.Final != nil {
		d.final(t.Final)
	}
	d.markdown("proof", cellMeta{Role: roleProof}, showProof(t))
	return d.nb
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
	runs int // code cells so far: their execution counts are 1..N
}

func (d *drawing) markdown(id string, meta cellMeta, source string) {
	d.nb.Cells = append(d.nb.Cells, notebook.Cell{
		ID: id, Type: notebook.Markdown, Source: strings.TrimSpace(source), Metadata: map[string]any{"dsstar": meta},
	})
}

func (d *drawing) code(id string, meta cellMeta, a Attempt) {
	c := notebook.Cell{ID: id, Type: notebook.Code, Source: a.Code, Metadata: map[string]any{}}
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
	d.nb.Cells = append(d.nb.Cells, c)
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

func (d *drawing) final(f *Final) {
	rest := *f
	good, ok := d.t.finalAttempt()
	if ok {
		rest.Attempts = f.Attempts[:len(f.Attempts)-1]
	}
	d.markdown("answer", cellMeta{Role: roleAnswer, Final: &rest}, "## Answer\n"+showFailed(rest.Attempts))
	if ok {
		d.code("final", cellMeta{Role: roleFinal}, good)
	}
}

// ReadTrajectory reads the trajectory back from its notebook. It is the
// inverse of [Draw].
func ReadTrajectory(nb *notebook.Notebook) (*Trajectory, error) {
	t := &Trajectory{}
	meta := notebookMeta{Trajectory: t}
	if err := metadata(nb.Metadata, &meta); err != nil {
		return nil, err
	}
	if meta.Version != 1 {
		return nil, fmt.Errorf("read the notebook: its dsstar metadata has version %d, not 1", meta.Version)
	}
	for i, c := range nb.Cells {
		var m cellMeta
		if c.Metadata["dsstar"] == nil {
			continue // a cell that somebody added
		}
		if err := metadata(c.Metadata, &m); err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		if err := t.take(m, c); err != nil {
			return nil, fmt.Errorf("read the notebook: cell %d: %w", i+1, err)
		}
	}
	return t, nil
}

// take adds what one cell holds of the trajectory.
func (t *Trajectory) take(m cellMeta, c notebook.Cell) error {
	switch m.Role {
	case roleData:
		t.Descriptions, t.Variables = m.Descriptions, m.Variables
	case roleRound, roleDropped:
		if m.Record == nil {
			return fmt.Errorf("a %s cell without its record", m.Role)
		}
		t.Rounds = append(t.Rounds, *m.Record)
	case roleStep:
		if len(t.Rounds) == 0 {
			return fmt.Errorf("a step's cell without its round")
		}
		round := &t.Rounds[len(t.Rounds)-1]
		round.Attempts = append(round.Attempts, attemptOf(m, c))
	case roleAnswer:
		t.Final = m.Final
	case roleFinal:
		if t.Final == nil {
			return fmt.Errorf("a final cell without its heading")
		}
		t.Final.Attempts = append(t.Final.Attempts, attemptOf(m, c))
	}
	return nil
}

func attemptOf(m cellMeta, c notebook.Cell) Attempt {
	a := Attempt{Code: c.Source}
	if m.Execution != nil {
		a.Execution = *m.Execution
	}
	for _, o := range c.Outputs {
		if o.Type == notebook.ExecuteResult {
			o.ExecutionCount = a.Execution.Count
		}
		a.Execution.Outputs = append(a.Execution.Outputs, o)
	}
	return a
}

// metadata decodes the "dsstar" entry of a metadata object, whether it was
// read from a file or is still the value that was drawn.
func metadata(all map[string]any, into any) error {
	if all["dsstar"] == nil {
		return fmt.Errorf("read the notebook: it was not written by dsstar")
	}
	data, err := json.Marshal(all["dsstar"])
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("read the notebook: its dsstar metadata: %w", err)
	}
	return nil
}

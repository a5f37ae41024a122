package record

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/memory/lesson"
	"dsstar/notebook/lists"
)

// At returns a round by its number among those of the run, from 1, with the cells that ran before
// its attempts: those of the plan at its start.
func (t *Trajectory) At(number int) (r Round, cells []string, ok bool) {
	for k := range t.Questions {
		p := t.Part(k)
		base, ever := p.Chain(), p.Ever()
		for i, r := range slices.Backward(ever) { // the newest, if it ran more than once
			if r.Number != number-p.Before() || r.By != nil {
				continue
			}
			base.Steps = nil
			for _, step := range slices.Backward(ever[:i]) {
				a := step.Accepted()
				if a.IsCell() && step.Place == r.Place-1-len(base.Steps) && !t.Method.Script {
					base.Steps = slices.Insert(base.Steps, 0, a.Code)
				}
			}
			return r, base.Cells(), true
		}
	}
	return r, nil, false
}

// LastScript returns the last accepted attempt, on which the paper's next script builds; the zero
// one if there is none.
func (q *Question) LastScript() (last Attempt) {
	for _, r := range q.Rounds {
		if a := r.Accepted(); a.IsCell() {
			last = a
		}
	}
	return last
}

// The roles of code cells, under the metadata key "dsstar".
const (
	RoleParameters = "parameters"
	RoleSetup      = "setup"
	RoleTools      = "tools"     // has the functions of definitions and of memory that the cells use
	RoleVariables  = "variables" // loads what the cells use of somebody's session
	RoleStep       = "step"
	RoleFinal      = "final"
)

// A Cell is one that Run All executes. Those of questions show an attempt.
type Cell struct {
	Role, Title, Code string
	Question, Round   int // its number from 0; that of a step
	Attempt           *Attempt
}

// Asked returns the cells of all questions.
func (t *Trajectory) Asked() (cells []Cell) {
	for k, q := range t.Questions {
		of := ""
		if len(t.Questions) > 1 {
			of = fmt.Sprintf("Question %d, ", k+1)
		}
		add := func(role, title string, round int, attempts []Attempt) {
			a := &attempts[len(attempts)-1]
			cells = append(cells, Cell{role, of + title, a.Code, k, round, a})
		}
		for _, r := range q.Drawn(t.Method.Script) {
			add(RoleStep, fmt.Sprintf("Step %d: %s", r.Place, r.Step), r.Number, r.Attempts)
		}
		if q.FinalCell().IsCell() {
			add(RoleFinal, "Answer: "+q.Text, 0, q.Final.Attempts)
		}
	}
	return cells
}

// OwnCells returns the code of the accepted cells of the last question.
func (t *Trajectory) OwnCells() []string {
	earlier := func(c Cell) bool { return c.Question < t.Earlier() }
	return codes(slices.DeleteFunc(t.Asked(), earlier))
}

// Cells returns the code of the notebook's cells in order.
func (t *Trajectory) Cells() []string { return codes(append(t.Opening(), t.Asked()...)) }

// Script returns the code of the notebook's cells in order as one Python script. Editors see the
// cells by the comments between them.
func (t *Trajectory) Script() string {
	var b strings.Builder
	for _, line := range Safety {
		b.WriteString("# " + line + "\n")
	}
	if t.Environment != "" {
		fmt.Fprintf(&b, "# It ran on %s: a Python that lacks packages of these gets them by pip install.\n",
			brief.OneLine(t.Environment))
	}
	for _, c := range append(t.Opening(), t.Asked()...) {
		fmt.Fprintf(&b, "\n\n# %%%% %s\n%s\n", brief.OneLine(c.Title), c.Code)
	}
	return b.String()
}

func codes(cells []Cell) []string {
	return lists.Map(cells, func(c Cell) string { return c.Code })
}

// A Chain is the cells that a cell runs on.
type Chain struct {
	SetUp   []string // parameters, set-up, variables, functions
	Earlier []string // of the questions before
	Answers []int    // places in Earlier of their last cells
	Steps   []string // accepted ones of this question
}

// Cells returns all of them in order.
func (c Chain) Cells() []string { return slices.Concat(c.SetUp, c.Earlier, c.Steps) }

// State returns what tells the state that cells produce: the cells but for where the data are.
func State(cells []string) []string {
	cells = slices.Clone(cells)
	if len(cells) > 0 {
		line, rest, ok := strings.Cut(cells[0], "\n")
		if ok && strings.HasPrefix(line, "data_dir = ") {
			cells[0] = rest
		}
	}
	return cells
}

// Chain returns the cells that the next one builds on: the accepted steps among them, unless every
// cell is a whole script.
func (t *Trajectory) Chain() Chain {
	c := Chain{SetUp: codes(t.Opening())}
	for i, cell := range t.Asked() {
		if cell.Question == t.Earlier() {
			break
		}
		if c.Earlier = append(c.Earlier, cell.Code); cell.Role == RoleFinal {
			c.Answers = append(c.Answers, i)
		}
	}
	for _, r := range t.Accepted() {
		if !t.Method.Script {
			c.Steps = append(c.Steps, r.Accepted().Code)
		}
	}
	return c
}

// cells.py has the code of dsstar's own cells.
//
//go:embed cells.py
var cellsCode string

// part returns a part of cells.py, with names in capitals replaced: pairs of a name and a text.
func part(name string, replace ...string) string {
	_, rest, _ := strings.Cut(cellsCode, "\n# == "+name+"\n")
	code, _, _ := strings.Cut(rest, "\n\n# == ")
	return strings.NewReplacer(replace...).Replace(strings.TrimSuffix(code, "\n"))
}

const seeds = "random.seed(0)\nnp.random.seed(0)"

// Reseeded returns a script with other random numbers. An answer that is right in general does not
// depend on them.
func Reseeded(script string) string {
	return strings.Replace(script, seeds, strings.ReplaceAll(seeds, "0", "1"), 1)
}

// SetUpCell returns the cell that follows the parameters in every notebook and script, with what
// the task has: data, databases, buckets, clusters. It must work in the session, with Run All,
// nbconvert, papermill and plain Python, and when run twice.
func SetUpCell(t Task) string {
	sees, data := "", ""
	if t.Data != "" {
		sees, data = ", and see the data folder as data/", part("data")+"\n"
	}
	return part("setup", "SEES", sees, "DATA", data) + "\n" + seeds + connect(t.Sources)
}

// addresses are examples of clusters' addresses, by their engines.
var addresses = map[string]string{"spark": "sc://host:15002", "dask": "tcp://host:8786",
	"ray": "ray://host:10001"}

// connect returns the end of the set-up cell: what makes the databases, buckets and clusters of the
// sources. Addresses and credentials come from variables of the environment, so that they are in no
// file. A connection to a database ends with its use, as copies of a session cannot share any; a
// cluster's client has threads and a connection, so that no copy of its session can use it.
func connect(sources []files.Source) (code string) {
	var databases, buckets, openers, clusters, scheme string
	for _, s := range files.Databases(sources) {
		entry := ", " + brief.Python(s.Engine()) + ": " + brief.Python(s.Variable())
		switch {
		case s.Is(files.BucketEnding):
			buckets += entry
			scheme, _, _ = strings.Cut(s.Database, "://")
			if opener := "\n" + part(scheme) + "\n\n"; !strings.Contains(openers, opener) {
				openers += opener
			}
		case s.Is(files.ClusterEnding):
			clusters += "\n\n" + part("cluster", "VARIABLE", brief.Python(s.Variable()),
				"ADDRESS", addresses[s.Engine()], "CLIENT", part(s.Engine()))
		default:
			databases += entry
		}
	}
	if databases != "" {
		code += "\n\n" + part("databases", "VARIABLES", "{"+databases[2:]+"}")
	}
	if buckets != "" {
		code += "\n\n" + part("buckets", "OPENERS", openers, "SCHEME", scheme,
			"VARIABLES", "{"+buckets[2:]+"}")
	}
	return code + clusters
}

// SetUpNames are the names that the notebook's own cells bind. No cell sees a user's variables of
// these names.
var SetUpNames = []string{
	"data_dir", "question", "base_dir", "data_path", "os", "random", "np", "pickle", "__file__",
}

// Opening returns the cells before the first step: parameters, set-up, if cells use variables of a
// user's session the cell that loads them, and the functions of definitions and of memory.
func (t *Trajectory) Opening() []Cell {
	parameters := "question = " + brief.Python(t.Questions[0].Text)
	if t.Task.Data != "" {
		parameters = "data_dir = " + brief.Python(t.Task.Data) + "\n" + parameters
	}
	cells := []Cell{
		{Role: RoleParameters, Title: "Parameters", Code: parameters},
		{Role: RoleSetup, Title: "Set-up", Code: SetUpCell(t.Task)},
	}
	if code := t.variablesCell(); code != "" {
		cells = append(cells, Cell{Role: RoleVariables, Title: "Variables", Code: code})
	}
	tools := t.UsedTools()
	if t.Recalled != nil && !t.UsedOnly {
		tools = t.Recalled.Tools
	}
	if len(tools) > 0 { // last: the second derivation begins before it
		code := ToolsComment + "\n" + lesson.Module(tools)
		cells = append(cells, Cell{Role: RoleTools, Title: "Functions", Code: code})
	}
	return cells
}

// variablesCell returns the cell that loads the variables that cells have read. A session that has
// them keeps its own, unless this cell loaded them before: cells may have changed them since.
func (t *Trajectory) variablesCell() string {
	code, names := "", ""
	for _, v := range t.Loaded() {
		if v.Import != "" {
			code += v.Import + "\n"
		} else {
			names += ", " + brief.Python(v.Name)
		}
	}
	if names != "" {
		code += "\n" + part("variables", "NAMES", names[2:])
	}
	if code == "" {
		return ""
	}
	return VariablesComment + "\n" + strings.Trim(code, "\n")
}

// VariablesComment begins the cell that loads variables.
const VariablesComment = "# What cells of this run have read of the session in which they were " +
	"written, for a session that has none of it."

// Loaded returns the variables that cells have read and a fresh session must load.
func (t *Trajectory) Loaded() []Variable {
	return slices.DeleteFunc(slices.Clone(t.Variables), func(v Variable) bool {
		return v.Import == "" && v.File == ""
	})
}

// ToolsComment begins the cell with the functions of definitions and of memory.
const ToolsComment = "# Functions that definitions have, or that earlier questions about these data left."

// Bind gives the run the functions of definitions, in place of those of the same names that memory has.
func (t *Trajectory) Bind(tools []lesson.Tool) {
	all := *cmp.Or(t.Recalled, &Recalled{})
	others := slices.DeleteFunc(slices.Clone(all.Tools), func(f lesson.Tool) bool {
		return f.Binds || slices.ContainsFunc(tools, func(t lesson.Tool) bool { return t.Name == f.Name })
	})
	if all.Tools = slices.Concat(tools, others); len(tools) > 0 || t.Recalled != nil {
		t.Recalled = &all
	}
}

// UsedTools returns those of the functions that the cells use, with those that these call.
func (t *Trajectory) UsedTools() []lesson.Tool {
	if t.Recalled == nil {
		return nil
	}
	return lesson.Needed(t.Recalled.Tools, strings.Join(codes(t.Asked()), "\n"))
}

package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/bench/runner"
)

// A Paper is one table of a paper.
type Paper struct {
	Name    string // "ds-star:1"
	Title   string
	Source  string
	bench   string // the benchmark of its runs
	tasks   int    // number of tasks behind the figures; 0: unknown
	columns []column
	rows    []row
	notes   []string

	unscored bool // dsstar does not compute its figures, so no run fills them in
}

type column struct {
	name     string
	decimals int
	of       measure
}

// A row is a line of the paper, and the kind of run that belongs beside it.
type row struct {
	framework, model string
	published        []float64 // none: not published
	run              *variant  // nil: dsstar cannot run it
}

// A variant is a kind of run: an agent and its settings that are not the default.
type variant struct {
	agent string
	setup map[string]string
	flags string // of the command line, besides those of every run
}

// Papers returns all tables.
func Papers() []Paper {
	return slices.Concat(dsStar(), dabStep(), daCode(), dataInterpreter())
}

// Find returns the table with that name.
func Find(name string) (Paper, bool) {
	all := Papers()
	i := slices.IndexFunc(all, func(p Paper) bool { return p.Name == name })
	if i < 0 {
		return Paper{}, false
	}
	return all[i], true
}

// A Table is a paper's table with our results beside the published ones. Its JSON is a
// contract: see docs/benchmarks.md.
type Table struct {
	Paper   string   `json:"paper"`
	Title   string   `json:"title"`
	Source  string   `json:"source"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
	Notes   []string `json:"notes"`
	Used    []Used   `json:"used"` // by the runs of its benchmark

	decimals []int
}

// A Row is one line of a table. It may have Published, Ours or both.
type Row struct {
	Framework string     `json:"framework"`
	Model     string     `json:"model"`
	Published []*float64 `json:"published"` // null: not published
	Run       string     `json:"run"`       // the folder of our run; "": there is none
	Ours      []*Value   `json:"ours"`      // null: the run has no such figure
	// command of the missing run; "": none is missing, or dsstar cannot run it
	Missing string `json:"missing"`
}

// Make returns the table with runs filled in.
func (p Paper) Make(runs []runner.Result) Table {
	t := Table{Paper: p.Name, Title: p.Title, Source: p.Source, Notes: slices.Clone(p.notes),
		Used: []Used{}}
	for _, c := range p.columns {
		t.Columns, t.decimals = append(t.Columns, c.name), append(t.decimals, c.decimals)
	}
	var ours []runner.Result
	for _, r := range runs {
		if r.Bench != p.bench {
			t.Notes = append(t.Notes, fmt.Sprintf("%s of %s is not in this table, which is about %s",
				named(r), r.Bench, p.bench))
			continue
		}
		ours = append(ours, r)
		t.Used = append(t.Used, usedBy(r))
		for _, note := range append(p.apart(r), about(r)...) {
			t.Notes = append(t.Notes, named(r)+": "+note)
		}
	}
	used := make([]bool, len(ours))
	for _, row := range p.rows {
		line := Row{Framework: row.framework, Model: row.model,
			Published: published(row.published, len(p.columns))}
		found := false
		for i, r := range ours {
			if row.run != nil && row.run.is(r) && sameModel(row.model, r.Model) {
				used[i], found = true, true
				line.Run, line.Ours = r.Path, p.measured(r)
				t.Rows = append(t.Rows, line)
			}
		}
		if !found {
			if row.run != nil && !p.unscored {
				line.Missing = p.command(row)
			}
			t.Rows = append(t.Rows, line)
		}
	}
	for i, r := range ours {
		if !used[i] {
			t.Rows = append(t.Rows, Row{Framework: Variation(r), Model: r.Model,
				Published: published(nil, len(p.columns)), Run: r.Path, Ours: p.measured(r)})
		}
	}
	return t
}

func (p Paper) measured(r runner.Result) []*Value {
	var values []*Value
	for _, c := range p.columns {
		values = append(values, c.of(r))
	}
	return values
}

func published(figures []float64, n int) []*float64 {
	all := make([]*float64, n)
	for i := range figures {
		if figures[i] >= 0 {
			all[i] = &figures[i]
		}
	}
	return all
}

// none stands for a figure that was not published.
const none = -1.0

// apart lists how a run in a paper's row differs from the published one.
func (p Paper) apart(r runner.Result) []string {
	var parts []string
	if p.tasks > 0 && len(r.Items) != p.tasks {
		parts = append(parts, fmt.Sprintf("%d tasks, and the published figures are of %d",
			len(r.Items), p.tasks))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Setup)) {
		switch value := r.Setup[name]; {
		case varied(name) || name == "tasks" || name == "data" || name == "seed":
		case r.Published[name] == value:
		case name != "compat":
			parts = append(parts, name+" "+value)
		case value != "upstream": // the papers were scored with the public code
			parts = append(parts, "scored "+value)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"ours: " + strings.Join(parts, ", ")}
}

// about lists what a reader of a run's figures should know.
func about(r runner.Result) []string {
	var notes []string
	if missing := len(r.Missing()); missing > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d tasks have no result yet, and count as wrong",
			missing, len(r.Items)*max(1, r.Repeat)))
	}
	hidden, failed := 0, 0
	for _, record := range r.Records {
		switch _, ok := record.Value(); {
		case ok:
		case record.Unscored != "":
			failed++
		default:
			hidden++
		}
	}
	if hidden > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"the right answers to %d tasks are not public: they are left out; dsstar bench submit writes the submission",
				hidden,
			),
		)
	}
	if failed > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"%d answers could not be scored, and are left out; dsstar bench score --save tries again",
				failed,
			),
		)
	}
	if open := unconfined(r); open > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"the cells of %d of %d tasks ran outside the sandbox, with the rights and the network of their server",
				open,
				len(r.Records),
			),
		)
	}
	if r.Repeat > 1 {
		notes = append(
			notes,
			fmt.Sprintf("a task's score is the mean of its %d runs, and n counts tasks", r.Repeat),
		)
	}
	return notes
}

// unconfined returns the number of records whose cells ran without a sandbox.
func unconfined(r runner.Result) int {
	n := 0
	for _, record := range r.Records {
		if strings.HasPrefix(record.Sandbox, "none") {
			n++
		}
	}
	return n
}

// sandboxes describes what confined the cells of a run.
func sandboxes(r runner.Result) string {
	var all []string
	for _, record := range r.Records {
		if record.Sandbox != "" && !slices.Contains(all, record.Sandbox) {
			all = append(all, record.Sandbox)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// named returns a run's name in notes. It omits the folder, which differs in a replay.
func named(r runner.Result) string { return Variation(r) + " with " + r.Model }

// varies lists the prefixes of settings that distinguish kinds of runs. Other settings, such as
// limits, are mentioned in a note.
var varies = []string{
	"split", "method.", "models.", "max_rounds", "max_steps", "max_history", "data_setting",
	"debug_tries", "reasoning", "trials", "verify", "replan", "tools", "pool",
}

func varied(name string) bool {
	return slices.ContainsFunc(varies, func(begin string) bool {
		return strings.HasPrefix(name, begin)
	})
}

func variations(r runner.Result) map[string]string {
	v := map[string]string{}
	for name, value := range r.Setup {
		if varied(name) {
			v[name] = value
		}
	}
	for _, arg := range r.Args { // the split is recorded there
		if split, ok := strings.CutPrefix(arg, "--split="); ok && split != "test" && split != "all" {
			v["split"] = split
		}
	}
	return v
}

// is reports whether r is a run of this kind.
func (v variant) is(r runner.Result) bool {
	have := variations(r)
	if v.agent != r.Agent || len(have) != len(v.setup) {
		return false
	}
	for name, value := range v.setup {
		if name == "models.verifier" && sameModel(value, have[name]) {
			continue
		}
		if have[name] != value {
			return false
		}
	}
	return true
}

// Variation names a run by its agent and its settings that are not the default.
func Variation(r runner.Result) string {
	var parts []string
	for name, value := range variations(r) {
		name = strings.TrimPrefix(name, "method.")
		switch value {
		case "true":
			parts = append(parts, name)
		case "false":
			parts = append(parts, "no "+name)
		default:
			parts = append(parts, name+" "+value[strings.LastIndexByte(value, '/')+1:])
		}
	}
	if len(parts) == 0 {
		return r.Agent
	}
	slices.Sort(parts)
	return r.Agent + ", " + strings.Join(parts, ", ")
}

// sameModel compares the names of models, ignoring provider, case and hyphens.
func sameModel(a, b string) bool {
	return modelName(a) == modelName(b)
}

func modelName(name string) string {
	return plain(name[strings.LastIndexByte(name, '/')+1:])
}

// command returns the command of the run that would fill in a row.
func (p Paper) command(r row) string {
	words := []string{"dsstar bench run --bench", p.bench, "--tasks TASKS --agent", r.run.agent,
		"--model", flagModel(r.model)}
	if r.run.flags != "" {
		words = append(words, r.run.flags)
	}
	return strings.Join(append(words, "--out OUT"), " ")
}

func flagModel(name string) string {
	id := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
	for begin, provider := range map[string]string{"gemini": "gemini", "gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic", "deepseek": "deepseek"} {
		if strings.HasPrefix(id, begin) {
			return provider + "/" + id
		}
	}
	return "PROVIDER/" + id
}

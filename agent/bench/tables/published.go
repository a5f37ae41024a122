package tables

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/bench/runner"
)

// published are the figures of DS-STAR (arXiv 2509.21825), DABStep (2506.23719), DA-Code (2410.07331;
// those that two copies of the paper agree on) and Data Interpreter (2402.18679). A record is
//
//	table,NAME,TITLE,SOURCE,BENCHMARK,TASKS
//	note,TEXT
//	column,NAME,MEASURE,level or domain,VALUE...
//	row,FRAMEWORK,MODEL,RUN,FIGURES...
//
// TASKS are those behind the figures, if that is known. RUN is the agent of our run beside the row,
// and its flags; it is empty if dsstar cannot run it. An empty figure is not published.
//
//go:embed published.csv
var published string

// A Paper is one table of a paper.
type Paper struct {
	Name                 string // "ds-star:1"
	title, source, bench string
	tasks                int // number of tasks behind the figures; 0: unknown
	notes                []string
	columns              []column
	rows                 []row
}

type column struct {
	name, measure string
	decimals      int
	chosen        choice
}

type row struct {
	framework, model, run string
	figures               []*float64
}

// Papers returns all tables.
func Papers() (all []Paper) {
	records := csv.NewReader(strings.NewReader(published))
	records.FieldsPerRecord = -1
	lines, err := records.ReadAll()
	if err != nil {
		panic(err) // the file is part of the program
	}
	for _, f := range lines {
		if f[0] == "table" {
			tasks, _ := strconv.Atoi(f[5])
			all = append(all, Paper{Name: f[1], title: f[2], source: f[3], bench: f[4], tasks: tasks})
			continue
		}
		switch p := &all[len(all)-1]; f[0] {
		case "note":
			p.notes = append(p.notes, f[1])
		case "column":
			f = append(f, "")
			p.columns = append(p.columns, column{f[1], f[2], 1, chosenBy(f[3], f[min(4, len(f)):])})
		default:
			p.addRow(row{framework: f[1], model: f[2], run: f[3]}, f[4:])
		}
	}
	return all
}

// addRow adds a row. A column has the decimals of its figures.
func (p *Paper) addRow(r row, figures []string) {
	r.figures = make([]*float64, len(p.columns))
	for i, text := range figures {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			r.figures[i] = &v
			_, after, _ := strings.Cut(text, ".")
			p.columns[i].decimals = len(after)
		}
	}
	p.rows = append(p.rows, r)
}

// Find returns the table with that name.
func Find(name string) (p Paper, ok bool) {
	for _, p := range Papers() {
		if p.Name == name {
			return p, true
		}
	}
	return Paper{}, false
}

// varies lists the prefixes of settings that distinguish kinds of runs. Other settings, such as
// limits, are mentioned in a note.
var varies = []string{
	"split", "method.", "models.", "max_rounds", "max_steps", "max_history", "data_setting",
	"debug_tries", "reasoning", "tools", "pool",
}

func varied(name string) bool {
	return slices.ContainsFunc(varies, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// variations returns the settings of a run that are not the default and distinguish kinds of runs.
func variations(r runner.Result) map[string]string {
	v := map[string]string{}
	for name, value := range r.Setup {
		if varied(name) {
			v[strings.TrimPrefix(name, "method.")] = value
		}
	}
	return v
}

// is reports whether a run belongs beside the row.
func (r row) is(of runner.Result) bool {
	agent, _, _ := strings.Cut(r.run, " ")
	if agent != of.Agent || modelName(r.model) != modelName(of.Model) {
		return false
	}
	want, have := map[string]string{}, variations(of)
	for _, flag := range strings.Split(r.run, "--")[1:] {
		name, value, given := strings.Cut(strings.TrimSpace(flag), " ")
		if role, model, ofRole := strings.Cut(value, "="); ofRole {
			name, value = "models."+role, model
		} else if !given {
			bare, off := strings.CutPrefix(name, "no-")
			name, value = bare, strconv.FormatBool(!off)
		}
		want[strings.ReplaceAll(name, "-", "_")] = value
	}
	return maps.EqualFunc(want, have, func(a, b string) bool { return modelName(a) == modelName(b) })
}

// variation names a run by its agent and its settings that are not the default.
func variation(r runner.Result) string {
	var parts []string
	for name, value := range variations(r) {
		switch value {
		case "true":
			parts = append(parts, name)
		case "false":
			parts = append(parts, "no "+name)
		default:
			parts = append(parts, name+" "+value[strings.LastIndexByte(value, '/')+1:])
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Insert(parts, 0, r.Agent), ", ")
}

// named returns a run's name in notes. It omits the folder, which differs in a replay.
func named(r runner.Result) string { return variation(r) + " with " + r.Model }

// modelName returns the name of a model without provider, case and hyphens.
func modelName(name string) string { return plain(name[strings.LastIndexByte(name, '/')+1:]) }

// command returns the command of the run that would fill in a row.
func (p Paper) command(r row) string {
	id := strings.ToLower(strings.ReplaceAll(r.model, " ", "-"))
	provider := "PROVIDER"
	for begin, of := range map[string]string{"gemini": "gemini", "gpt": "openai", "o1": "openai", "o3": "openai",
		"o4": "openai", "claude": "anthropic", "deepseek": "deepseek"} {
		if strings.HasPrefix(id, begin) {
			provider = of
		}
	}
	agent, flags, _ := strings.Cut(r.run+" ", " ")
	return fmt.Sprintf("dsstar bench run --bench %s --tasks TASKS --agent %s --model %s/%s %s--out OUT", p.bench,
		agent, provider, id, flags)
}

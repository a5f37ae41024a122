package tables

import (
	_ "embed"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/bench/runner"
)

// published are the figures of DS-STAR (arXiv 2509.21825), DABStep (2506.23719), DA-Code
// (2410.07331; those that two copies of the paper agree on) and Data Interpreter (2402.18679). A
// record is
//
//	table,NAME,TITLE,SOURCE,BENCHMARK,TASKS
//	note,TEXT
//	column,NAME,MEASURE,level or domain,VALUE...
//	row,FRAMEWORK,MODEL,RUN,FIGURES...
//
// TASKS are those behind the figures, if that is known. RUN is the agent of our run beside the row,
// and its flags, sorted; it is empty if dsstar cannot run it. An empty figure is not published.
//
//go:embed published.csv
var published string

// A Table is a table of a paper.
type Table struct {
	Name                 string // such as ds-star:1
	title, source, bench string
	tasks                int // behind the figures; 0: unknown
	columns              []column
	rows                 []row
	notes                []string
}

type column struct {
	name, measure string
	decimals      int // of its figures
	chosen        choice
}

type row struct {
	framework, model string
	run              string // the agent of our run, and its flags
	figures          []string
}

// Papers returns all tables.
func Papers() (all []Table) {
	records := csv.NewReader(strings.NewReader(published))
	records.FieldsPerRecord = -1
	lines, err := records.ReadAll()
	if err != nil {
		panic(err) // the file is part of the program
	}
	for _, f := range lines {
		if f[0] == "table" {
			tasks, _ := strconv.Atoi(f[5])
			all = append(all, Table{Name: f[1], title: f[2], source: f[3], bench: f[4], tasks: tasks})
			continue
		}
		switch t := &all[len(all)-1]; f[0] {
		case "note":
			t.notes = append(t.notes, f[1])
		case "column":
			f = append(f, "")
			t.columns = append(t.columns, column{f[1], f[2], 1, chosenBy(f[3], f[min(4, len(f)):])})
		default:
			t.rows = append(t.rows, row{f[1], f[2], f[3], f[4:]})
			for i, figure := range f[4:] {
				if _, after, _ := strings.Cut(figure, "."); figure != "" {
					t.columns[i].decimals = len(after)
				}
			}
		}
	}
	return all
}

// varies lists the prefixes of settings that distinguish kinds of runs. Other settings, such as
// limits, are mentioned in a note.
var varies = []string{
	"split", "method.", "models.", "max_rounds", "max_steps", "max_history", "data_setting",
	"debug_tries", "reasoning",
}

func varied(name string) bool {
	return slices.ContainsFunc(varies, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// flagged names a run by its agent and the flags of its settings that are not the default, sorted.
func flagged(r runner.Result) string {
	flags := []string{}
	for name, value := range r.Setup {
		flag := strings.ReplaceAll(strings.TrimPrefix(name, "method."), "_", "-")
		role, ofRole := strings.CutPrefix(name, "models.")
		value = value[strings.LastIndexByte(value, '/')+1:] // of a model without its provider
		switch {
		case !varied(name):
			continue
		case ofRole:
			flag = "role-model " + role + "=" + value
		case value == "false":
			flag = "no-" + flag
		case value != "true":
			flag += " " + value
		}
		flags = append(flags, "--"+flag)
	}
	slices.Sort(flags)
	return strings.Join(slices.Insert(flags, 0, r.Agent), " ")
}

// is reports whether a run belongs beside the row.
func (r row) is(of runner.Result) bool {
	return strings.ReplaceAll(r.run, "PROVIDER/", "") == flagged(of) &&
		modelName(r.model) == modelName(of.Model)
}

// named returns a run's name in notes. It omits the folder, which differs in a replay.
func named(r runner.Result) string { return flagged(r) + " with " + r.Model }

// modelName returns the name of a model without provider, case and hyphens.
func modelName(name string) string { return plain(name[strings.LastIndexByte(name, '/')+1:]) }

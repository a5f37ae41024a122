package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

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
	Framework string         `json:"framework"`
	Model     string         `json:"model"`
	Published []*float64     `json:"published"` // null: not published
	Run       string         `json:"run"`       // the folder of our run; "": there is none
	Ours      []*bench.Value `json:"ours"`      // null: the run has no such figure
	// command of the missing run; "": none is missing, or dsstar cannot run it
	Missing string `json:"missing"`
}

// Make returns the table with runs filled in.
func (p Paper) Make(runs []runner.Result) Table {
	t := Table{Paper: p.Name, Title: p.title, Source: p.source, Notes: slices.Clone(p.notes), Used: []Used{}}
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
		ours, t.Used = append(ours, r), append(t.Used, usedBy(r))
		for _, note := range append(p.apart(r), about(r)...) {
			t.Notes = append(t.Notes, named(r)+": "+note)
		}
	}
	used := make([]bool, len(ours))
	for _, row := range p.rows {
		line := Row{Framework: row.framework, Model: row.model, Published: row.figures}
		found := false
		for i, r := range ours {
			if row.is(r) {
				used[i], found = true, true
				line.Run, line.Ours = r.Path, p.measured(r)
				t.Rows = append(t.Rows, line)
			}
		}
		if !found {
			if row.run != "" && p.columns[0].measure != "CS" { // which nothing here computes
				line.Missing = p.command(row)
			}
			t.Rows = append(t.Rows, line)
		}
	}
	for i, r := range ours {
		if !used[i] {
			t.Rows = append(t.Rows, Row{Framework: flagged(r), Model: r.Model,
				Published: make([]*float64, len(p.columns)), Run: r.Path, Ours: p.measured(r)})
		}
	}
	return t
}

func (p Paper) measured(r runner.Result) (values []*bench.Value) {
	for _, c := range p.columns {
		values = append(values, measured(r, c.measure, c.chosen))
	}
	return values
}

// apart lists how a run in a paper's row differs from the published one.
func (p Paper) apart(r runner.Result) []string {
	var parts []string
	if p.tasks > 0 && len(r.Items) != p.tasks {
		parts = append(parts, fmt.Sprintf("%d tasks, and the published figures are of %d", len(r.Items), p.tasks))
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
func about(r runner.Result) (notes []string) {
	note := func(n int, format string, args ...any) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	hidden, failed, open := 0, 0, 0
	for _, record := range r.Records {
		if strings.HasPrefix(record.Sandbox, "none") {
			open++
		}
		switch _, ok := record.Value(); {
		case ok:
		case record.Unscored != "":
			failed++
		default:
			hidden++
		}
	}
	missing := r.Missing()
	note(missing, "%d of %d tasks have no result yet, and count as wrong", missing, len(r.Items)*max(1, r.Repeat))
	note(hidden, "the right answers to %d tasks are not public: they are left out; dsstar bench submit writes "+
		"the submission", hidden)
	note(failed, "%d answers could not be scored, and are left out; dsstar bench score --save tries again", failed)
	note(open, "the cells of %d of %d tasks ran outside the sandbox, with the rights and the network of their server",
		open, len(r.Records))
	note(r.Repeat-1, "a task's score is the mean of its %d runs, and n counts tasks", r.Repeat)
	return notes
}

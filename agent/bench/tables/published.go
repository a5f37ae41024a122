// Package tables shows recorded benchmark runs as Markdown: the papers' tables with our figures below
// the published ones. The same records give the same bytes, also in a replay.
package tables

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/notebook/lists"
)

// published are the figures of DS-STAR (arXiv 2509.21825), DABStep (2506.23719), DA-Code
// (2410.07331; those that two copies of the paper agree on) and Data Interpreter (2402.18679). A
// record is
//
//	table,NAME,TITLE,SOURCE,BENCHMARK
//	note,TEXT
//	column,NAME,MEASURE,level or domain,VALUE...
//	row,FRAMEWORK,MODEL,RUN,FIGURES...
//
// A column without a measure has no figures of ours. A VALUE is the beginning of a level's or domain's
// name. RUN is our agent and its flags; it is empty if dsstar cannot run the row. An empty figure is
// not published.
//
//go:embed published.csv
var published string

// A Table is a table of a paper.
type Table struct {
	Name                 string // such as ds-star:1
	title, source, bench string
	columns              []column
	rows                 [][]string
	notes                []string
}

type column struct {
	name, measure string
	by            string   // level or domain; "": all tasks
	values        []string // beginnings of it
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
			all = append(all, Table{Name: f[1], title: f[2], source: f[3], bench: f[4]})
			continue
		}
		switch t := &all[len(all)-1]; f[0] {
		case "note":
			t.notes = append(t.notes, f[1])
		case "column":
			c := column{name: f[1], measure: f[2]}
			if len(f) > 3 {
				c.by, c.values = f[3], f[4:]
			}
			t.columns = append(t.columns, c)
		default:
			t.rows = append(t.rows, f[1:])
		}
	}
	return all
}

// has reports whether the column is about a task.
func (c column) has(i runner.Item) bool {
	of := strings.ToLower(map[string]string{"level": i.Level, "domain": i.Domain}[c.by])
	return c.by == "" || slices.ContainsFunc(c.values, func(begin string) bool {
		return strings.HasPrefix(of, strings.ToLower(begin))
	})
}

// Markdown returns the table, with a row for each run below the published ones.
func (t Table) Markdown(runs []runner.Result) string {
	rows, notes := slices.Clone(t.rows), t.notes
	names := lists.Map(t.columns, func(c column) string { return c.name })
	head := append([]string{"Framework", "Model", "Run"}, names...)
	for _, r := range runs {
		if r.Bench != t.bench {
			notes = append(notes, fmt.Sprintf("%s is a run of %s, and the table is about %s", named(r), r.Bench,
				t.bench))
			continue
		}
		ours := func(c column) string { return valueText(measured(r, c.measure, c.has)) }
		rows = append(rows, append([]string{"ours", r.Model, named(r)}, lists.Map(t.columns, ours)...))
		if n := r.Missing(); n > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d of %d tasks have no result yet, and count as wrong",
				named(r), n, len(r.Items)))
		}
	}
	text := fmt.Sprintf("## %s: %s\n\n%s\nPublished: %s. Ours: the figure, (n tasks, and the 95 %% interval "+
		"by Wilson for shares and scores).\n", t.Name, t.title, grid(head, rows), t.source)
	for _, note := range notes {
		text += "- " + note + "\n"
	}
	return text
}

// named names a run by its agent and the settings that are not the default, but not where it is, which
// differs in a replay.
func named(r runner.Result) string {
	text := r.Agent
	for _, name := range slices.Sorted(maps.Keys(r.Setup)) {
		if name != "tasks" && name != "data" {
			text += ", " + name + " " + r.Setup[name]
		}
	}
	return text
}

// grid returns a Markdown table with aligned columns.
func grid(head []string, rows [][]string) string {
	var b strings.Builder
	plain := strings.NewReplacer("|", `\|`, "\n", " ", "\t", " ")
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, row := range slices.Concat([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows) {
		for i := range head {
			cell := absent
			if i < len(row) && row[i] != "" {
				cell = plain.Replace(row[i])
			}
			fmt.Fprintf(w, "| %s\t", cell)
		}
		fmt.Fprintln(w, "|")
	}
	_ = w.Flush() // to memory
	return b.String()
}

// figure returns a figure of a record, money in US dollars; none if the record does not have it.
func figure(r runner.Record, name string) (values []float64) {
	switch {
	case name == "score" && r.Score != nil && !r.Uncounted:
		return []float64{*r.Score}
	case name == "cost" && r.Cost != nil:
		return []float64{*r.Cost}
	case name == "completion" && r.Finished:
		return []float64{1}
	}
	if of, ok := map[string]int{"completion": 0, "rounds": r.Rounds, "repairs": r.DebugTries,
		"calls": r.Usage.Calls, "input tokens": r.Usage.InputTokens, "output tokens": r.Usage.OutputTokens}[name]; ok {
		return []float64{float64(of)}
	}
	return nil
}

// Score returns the mean score of a run in per cent, with its interval, or nil if no record has
// one, because the right answers are then not public.
func Score(r runner.Result) *bench.Value {
	return measured(r, "score", column{}.has)
}

// measured returns a figure of the chosen tasks of a run, as the mean over those that have it; nil if
// no task has. Shares are in per cent. A task without a record has no score and is not complete; for
// other figures it does not count.
func measured(r runner.Result, name string, chosen func(runner.Item) bool) *bench.Value {
	of, some := map[string]runner.Record{}, false
	for _, record := range r.Records {
		of[record.Task] = record
		some = some || figure(record, name) != nil
	}
	if !some {
		return nil
	}
	share := name == "score" || name == "completion"
	var values []float64
	for _, item := range r.Items {
		if record, done := of[item.ID]; !chosen(item) {
			continue
		} else if done {
			values = append(values, figure(record, name)...)
		} else if share {
			values = append(values, 0)
		}
	}
	if share {
		return bench.Share(values)
	}
	return bench.Mean(values)
}

const absent = "–"

// valueText formats a value like "50.00 (n 10, 23.66 to 76.34)".
func valueText(v *bench.Value) string {
	switch {
	case v == nil:
		return absent
	case v.Low == nil:
		return fmt.Sprintf("%s (n %d)", number(v.Value), v.N)
	}
	return fmt.Sprintf("%.2f (n %d, %.2f to %.2f)", v.Value, v.N, *v.Low, *v.High)
}

// number rounds to four decimals.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) }

package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

// Markdown returns the table, with the figures of runs beside the published ones. Runs that belong
// beside no row follow below.
func (t Table) Markdown(runs []runner.Result) string {
	var ours []runner.Result
	var notes []string
	for _, r := range runs {
		if r.Bench != t.bench {
			notes = append(notes, fmt.Sprintf("%s of %s is not in this table, which is about %s",
				named(r), r.Bench, t.bench))
			continue
		}
		ours = append(ours, r)
		for _, note := range append(t.apart(r), about(r)...) {
			notes = append(notes, named(r)+": "+note)
		}
	}
	head := []string{"Framework", "Model"}
	for _, c := range t.columns {
		head = append(head, c.name+", published", c.name+", ours")
	}
	var rows [][]string
	for _, row := range t.rows {
		before := len(ours)
		ours = slices.DeleteFunc(ours, func(r runner.Result) bool {
			is := row.is(r)
			if is {
				rows = append(rows, t.line(row, r))
			}
			return is
		})
		if before == len(ours) {
			rows = append(rows, t.line(row, runner.Result{}))
		}
	}
	for _, r := range ours {
		rows = append(rows, t.line(row{framework: flagged(r), model: r.Model}, r))
	}
	text := fmt.Sprintf("## %s: %s\n\n%s\nOurs: the figure, (n tasks, and the 95 %% interval by Wilson "+
		"for shares and scores). Published: %s.\n", t.Name, t.title, grid(head, rows), t.source)
	for _, note := range slices.Concat(t.notes, notes) {
		text += "- " + note + "\n"
	}
	return text
}

// line returns a row with the figures of our run; of none, if that is empty.
func (t Table) line(row row, r runner.Result) []string {
	line := []string{row.framework, row.model}
	published := slices.Concat(row.figures, make([]string, len(t.columns)))
	for i, c := range t.columns {
		line = append(line, cmp.Or(published[i], absent), valueText(measured(r, c.measure, c.chosen), c.decimals))
	}
	return line
}

// apart lists how a run in a paper's row differs from the published one.
func (t Table) apart(r runner.Result) []string {
	var parts []string
	if t.tasks > 0 && len(r.Items) != t.tasks {
		parts = append(parts, fmt.Sprintf("%d tasks, and the published figures are of %d",
			len(r.Items), t.tasks))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Setup)) {
		value := r.Setup[name]
		usual := r.Published[name] == value || name == "compat" && value == "upstream" // as in the papers
		if !usual && !varied(name) && !slices.Contains([]string{"tasks", "data", "seed"}, name) {
			parts = append(parts, name+" "+value)
		}
	}
	if parts == nil {
		return nil
	}
	return []string{"ours: " + strings.Join(parts, ", ")}
}

// about lists what a reader of a run's figures should know.
func about(r runner.Result) (notes []string) {
	if n := r.Missing(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d tasks have no result yet, and count as wrong", n,
			len(r.Items)*max(1, r.Repeat)))
	}
	open := 0
	for _, record := range r.Records {
		open += int(share[strings.HasPrefix(record.Sandbox, "none")])
	}
	if open > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d tasks ran outside the sandbox, with the rights and the "+
			"network of their server", open, len(r.Records)))
	}
	if r.Repeat > 1 {
		notes = append(notes, fmt.Sprintf("a task's score is the mean of its %d runs, and n counts tasks",
			r.Repeat))
	}
	return notes
}

const absent = "–"

// valueText formats a value like "50.00 (n 10, 23.66 to 76.34)".
func valueText(v *bench.Value, decimals int) string {
	switch {
	case v == nil:
		return absent
	case v.Low == nil:
		return fmt.Sprintf("%.*f (n %d)", decimals, v.Value, v.N)
	}
	return fmt.Sprintf("%.*f (n %d, %.*f to %.*f)", decimals, v.Value, v.N, decimals, *v.Low, decimals, *v.High)
}

// grid returns a Markdown table with aligned columns.
func grid(head []string, rows [][]string) string {
	var b strings.Builder
	plain := strings.NewReplacer("|", `\|`, "\n", " ", "\t", " ")
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, line := range slices.Concat([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows) {
		for _, cell := range line {
			fmt.Fprintf(w, "| %s\t", plain.Replace(cell))
		}
		fmt.Fprintln(w, "|")
	}
	_ = w.Flush() // to memory
	return b.String()
}

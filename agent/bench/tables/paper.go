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
	"dsstar/agent/record"
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

	bench   string
	tasks   int // behind the figures; 0: unknown
	columns []column
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

	run string // the agent of our run, and its flags
}

// With returns the published table with runs filled in.
func (t Table) With(runs []runner.Result) Table {
	var ours []runner.Result
	for _, r := range runs {
		if r.Bench != t.bench {
			t.Notes = append(t.Notes, fmt.Sprintf("%s of %s is not in this table, which is about %s",
				named(r), r.Bench, t.bench))
			continue
		}
		ours, t.Used = append(ours, r), append(t.Used, usedBy(r))
		for _, note := range append(t.apart(r), about(r)...) {
			t.Notes = append(t.Notes, named(r)+": "+note)
		}
	}
	var rows []Row
	for _, row := range t.Rows {
		beside := len(ours)
		ours = slices.DeleteFunc(ours, func(r runner.Result) bool {
			is := row.is(r)
			if is {
				rows = append(rows, t.beside(row, r))
			}
			return is
		})
		if beside == len(ours) {
			if row.run != "" && t.columns[0].measure != "CS" { // which nothing here computes
				row.Missing = t.command(row)
			}
			rows = append(rows, row)
		}
	}
	for _, r := range ours { // that belong beside no row
		rows = append(rows, t.beside(Row{Framework: flagged(r), Model: r.Model,
			Published: make([]*float64, len(t.columns))}, r))
	}
	t.Rows = rows
	return t
}

// beside returns a row with the figures of our run.
func (t Table) beside(row Row, r runner.Result) Row {
	row.Run = r.Path
	for _, c := range t.columns {
		row.Ours = append(row.Ours, measured(r, c.measure, c.chosen))
	}
	return row
}

// apart lists how a run in a paper's row differs from the published one.
func (t Table) apart(r runner.Result) []string {
	var parts []string
	if t.tasks > 0 && len(r.Items) != t.tasks {
		parts = append(parts, fmt.Sprintf("%d tasks, and the published figures are of %d",
			len(r.Items), t.tasks))
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
	if parts != nil {
		parts = []string{"ours: " + strings.Join(parts, ", ")}
	}
	return parts
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
		switch {
		case record.Score != nil:
		case record.Unscored != "":
			failed++
		default:
			hidden++
		}
	}
	missing := r.Missing()
	note(missing, "%d of %d tasks have no result yet, and count as wrong", missing,
		len(r.Items)*max(1, r.Repeat))
	note(hidden, "the right answers to %d tasks are not public: they are left out; dsstar bench submit writes "+
		"the submission", hidden)
	note(failed, "%d answers could not be scored, and are left out; dsstar bench score --save tries again", failed)
	note(open, "the cells of %d of %d tasks ran outside the sandbox, with the rights and the network of their server",
		open, len(r.Records))
	note(r.Repeat-1, "a task's score is the mean of its %d runs, and n counts tasks", r.Repeat)
	return notes
}

// Markdown returns the table as Markdown.
func (t Table) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s\n\n", t.Paper, t.Title)
	head := []string{"Framework", "Model"}
	for _, c := range t.Columns {
		head = append(head, c+", published", c+", ours")
	}
	var rows [][]string
	for _, r := range t.Rows {
		line := []string{r.Framework, r.Model}
		for i := range t.Columns {
			of := t.columns[i].decimals
			ours := absent
			if r.Ours != nil {
				ours = valueText(r.Ours[i], of)
			}
			line = append(line, figureText(r.Published[i], of), ours)
		}
		rows = append(rows, line)
	}
	b.WriteString(grid(head, rows))
	fmt.Fprintf(&b, "\nOurs: the figure, (n tasks, and the 95 %% interval by Wilson for shares "+
		"and scores). Published: %s.\n", t.Source)
	for _, note := range t.Notes {
		fmt.Fprintf(&b, "- %s\n", note)
	}
	for _, u := range t.Used {
		b.WriteString(u.Markdown())
	}
	var missing []string
	for _, r := range t.Rows {
		if r.Missing != "" {
			missing = append(missing, fmt.Sprintf("%s   # %s, %s", r.Missing, r.Framework, r.Model))
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(&b, "\nWhat is missing would need\n\n```sh\n%s\n```\n", strings.Join(missing, "\n"))
	}
	return b.String()
}

const absent = "–"

func figureText(v *float64, decimals int) string {
	if v == nil {
		return absent
	}
	return fmt.Sprintf("%.*f", decimals, *v)
}

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

// A Used is what the tasks of a run used by role, per task, and how often what was derived beside
// the answers changed anything.
type Used struct {
	Run         string        `json:"run"`
	Name        string        `json:"name"`
	Tasks       int           `json:"tasks"` // with a result, repeats included
	Roles       []RoleUsed    `json:"roles"` // those with most calls first
	Derivations record.Counts `json:"derivations"`
}

// A RoleUsed is what one role used, per task.
type RoleUsed struct {
	Role   string  `json:"role"`
	Calls  float64 `json:"calls"`
	Input  float64 `json:"input_tokens"`
	Cached float64 `json:"cached_tokens"`
	Output float64 `json:"output_tokens"`
}

// usedBy returns what a run used.
func usedBy(r runner.Result) Used {
	u := Used{Run: r.Path, Name: named(r), Tasks: len(r.Records), Roles: []RoleUsed{}}
	of := map[string]record.Usage{}
	for _, one := range r.Records {
		for role, usage := range one.ByRole {
			sum := of[role]
			sum.Calls += usage.Calls
			sum.Add(usage.Usage)
			of[role] = sum
		}
		u.Derivations = u.Derivations.Add(one.Derivations)
	}
	n := float64(max(1, len(r.Records)))
	for role, sum := range of {
		u.Roles = append(u.Roles, RoleUsed{role, float64(sum.Calls) / n, float64(sum.InputTokens) / n,
			float64(sum.CachedTokens) / n, float64(sum.OutputTokens) / n})
	}
	slices.SortFunc(u.Roles, func(a, b RoleUsed) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Role, b.Role))
	})
	return u
}

// Markdown returns a table of the roles, and the derivations below it; "" if no role is known.
func (u Used) Markdown() string {
	if len(u.Roles) == 0 {
		return ""
	}
	var rows [][]string
	for _, r := range u.Roles {
		rows = append(rows, []string{r.Role, fmt.Sprintf("%.2f", r.Calls), fmt.Sprintf("%.0f", r.Input),
			fmt.Sprintf("%.0f", r.Cached), fmt.Sprintf("%.0f", r.Output)})
	}
	text := fmt.Sprintf("\n%s, a task:\n\n", u.Name) +
		grid([]string{"Role", "Calls", "Input tokens", "Cached", "Output tokens"}, rows)
	for _, line := range u.Derivations.Lines() {
		text += "- " + line + "\n"
	}
	return text
}

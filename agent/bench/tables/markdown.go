package tables

import (
	"fmt"
	"strings"

	"dsstar/agent/bench"
)

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
			of := t.decimals[i]
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
	width := make([]int, len(head))
	for _, line := range append([][]string{head}, rows...) {
		for i := range line {
			line[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(line[i])
			width[i] = max(width[i], len([]rune(line[i])))
		}
	}
	var b strings.Builder
	write := func(line []string, fill string) {
		for i, text := range line {
			fmt.Fprintf(&b, "| %s%s ", text, strings.Repeat(fill, width[i]-len([]rune(text))))
		}
		b.WriteString("|\n")
	}
	write(head, " ")
	write(make([]string, len(head)), "-")
	for _, line := range rows {
		write(line, " ")
	}
	return b.String()
}

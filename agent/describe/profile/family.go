package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Beyond is what a request shows of a file whose structure is that of first, which is shown
// whole: only what differs, in a few lines of at most about chars bytes. It is "" if the two are
// not of one structure.
func (p Profile) Beyond(first Profile, chars int) string {
	if p.Format != first.Format || len(p.Tables) != len(first.Tables) || len(p.Tables) == 0 {
		return ""
	}
	var lines []string
	for n, t := range p.Tables {
		lead := first.Tables[n]
		named := func(a, b Column) bool { return a.Name == b.Name }
		if !slices.EqualFunc(t.Columns, lead.Columns, named) {
			return ""
		}
		differs := []string{fmt.Sprintf("%d rows", t.Rows)}
		for c, column := range t.Columns {
			if d := column.beyond(lead.Columns[c], t.Rows); d != "" {
				differs = append(differs, column.Name+": "+d)
			}
		}
		for _, w := range t.Warnings {
			same := func(other string) bool { return head(other, 25) == head(w, 25) }
			if !slices.ContainsFunc(lead.Warnings, same) {
				differs = append(differs, w)
			}
		}
		if title := strings.Join(t.Head, " "); title != strings.Join(lead.Head, " ") {
			differs = append(differs, "above it: "+head(title, 200))
		}
		name := ""
		if len(p.Tables) > 1 {
			name = t.Name + ": "
		}
		lines = append(lines, name+strings.Join(differs, "; "))
	}
	if p.Encoding != first.Encoding {
		lines = append(lines, "encoding "+p.Encoding)
	}
	text := strings.Join(lines, "\n")
	return cut(text, chars)
}

// beyond is what a column has that its equal in another file has not. Ranges of measures differ
// everywhere and say little: those of dates and types, constants and missing values matter.
func (c Column) beyond(lead Column, rows int) string {
	switch {
	case c.kind() != lead.kind() && !(c.Type == "number" && lead.Type == "number"):
		return c.line(rows, true)
	case len(c.Values) == 1 && (len(lead.Values) != 1 || c.Values[0].Text != lead.Values[0].Text):
		return "always " + c.Values[0].Text
	case c.Type == "date" && c.Range != lead.Range:
		return fmt.Sprintf("%s to %s", figure(c.Range[0]), figure(c.Range[1]))
	case c.Form != lead.Form:
		return "form " + c.Form
	}
	var parts []string
	if missing := c.missing(rows); missing != "" && (len(lead.Missing) == 0) {
		parts = append(parts, missing)
	}
	mixed := func(note string) bool { return strings.HasPrefix(note, "mixed") }
	if n := slices.IndexFunc(c.Notes, mixed); n >= 0 && !slices.ContainsFunc(lead.Notes, mixed) {
		parts = append(parts, c.Notes[n])
	}
	return strings.Join(parts, ", ")
}

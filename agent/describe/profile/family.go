package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Beyond is what a request shows of a file whose structure is that of first, which is shown
// whole: whatever changes how it is read, and then what else differs, in at most about chars bytes.
// It is "" if the two are not of one structure.
func (p Profile) Beyond(first Profile, chars int) string {
	if p.Format != first.Format || len(p.Tables) != len(first.Tables) || len(p.Tables) == 0 {
		return ""
	}
	parts := differ("", p.Reads, first.Reads)
	var values []string // what differs in them
	for n, t := range p.Tables {
		lead := first.Tables[n]
		if !slices.EqualFunc(t.Columns, lead.Columns, func(a, b Column) bool { return a.Name == b.Name }) {
			return ""
		}
		name := ""
		if len(p.Tables) > 1 {
			name = t.Name + ": "
		}
		parts = append(parts, name+fmt.Sprintf("%d rows", t.Rows))
		parts = append(parts, differ(name, t.Reads, lead.Reads)...)
		for c, column := range t.Columns {
			parts = append(parts, differ(name+column.Name+": ", column.Reads, lead.Columns[c].Reads)...)
			values = append(values, differ(name+column.Name+": ", column.Holds, lead.Columns[c].Holds)...)
		}
	}
	for _, v := range values {
		if chars -= len(v) + 2; chars > 0 {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, "; ")
}

// differ tells what the first of two has otherwise.
func differ(name string, has, lead map[string]string) (parts []string) {
	for _, key := range slices.Sorted(maps.Keys(has)) {
		if has[key] != lead[key] && has[key] != "" {
			parts = append(parts, name+has[key])
		}
	}
	return parts
}

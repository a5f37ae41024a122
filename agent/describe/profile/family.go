package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook/human"
)

// Akin reports whether one profile is told by what it has beyond the other: both have the same
// tables with the same columns, or one table each of which most columns are the same.
func (p Profile) Akin(first Profile) bool {
	const least = 3
	if p.Format != first.Format || len(p.Tables) != len(first.Tables) || len(p.Tables) == 0 {
		return false
	}
	same := func(a, b Column) bool { return a.Name == b.Name }
	for n, t := range p.Tables {
		lead := first.Tables[n]
		if slices.EqualFunc(t.Columns, lead.Columns, same) {
			continue
		}
		names, both := t.byName(), 0
		for _, c := range lead.Columns {
			if _, ok := names[c.Name]; ok && !strings.HasPrefix(c.Name, unnamed) {
				both++
			}
		}
		if len(p.Tables) > 1 || both < least || 2*both <= max(len(t.Columns), len(lead.Columns)) {
			return false
		}
	}
	return true
}

// unnamed begins the names that columns have where the file gives none.
const unnamed = "column "

func (t Table) byName() map[string]Column {
	names := make(map[string]Column, len(t.Columns))
	for _, c := range t.Columns {
		names[c.Name] = c
	}
	return names
}

// Beyond is what a request shows of a file that is akin to first, which is shown whole: whatever
// changes how it is read, and then what else differs, in at most about chars bytes. What changes
// how it is read has several times as many.
func (p Profile) Beyond(first Profile, chars int) string {
	const reading = 4
	parts := differ("", p.Reads, first.Reads)
	var values []string // what differs in them
	for n, t := range p.Tables {
		lead, name := first.Tables[n], ""
		if len(p.Tables) > 1 {
			name = t.Name + ": "
		}
		count := name + t.Count
		if t.Sample > 0 {
			count += ", figures from a sample"
		}
		parts = append(append(parts, count), differ(name, t.Reads, lead.Reads)...)
		known := lead.byName()
		for _, c := range t.Columns {
			other, ok := known[c.Name]
			if delete(known, c.Name); !ok {
				parts = append(parts, fmt.Sprintf("also has %s: %s", c.Name, cmp.Or(c.Brief, c.Line)))
				continue
			}
			parts = append(parts, differ(name+c.Name+": ", c.Reads, other.Reads)...)
			holds := maps.Clone(c.Holds)
			if other.Holds["missing"] != "" {
				delete(holds, "missing") // how many is told of the other
			}
			values = append(values, differ(name+c.Name+": ", holds, other.Holds)...)
		}
		if len(known) > 0 {
			parts = append(parts, "has no "+joined(slices.Sorted(maps.Keys(known)), chars/4))
		}
	}
	return strings.Join(append(within(parts, reading*chars), within(values, chars)...), "; ")
}

// within are the first of differences that n bytes have room for, and how many more there are.
func within(differences []string, n int) []string {
	for i, d := range differences {
		if n -= len(d) + 2; n < 0 {
			return append(differences[:i:i], human.Plural(len(differences)-i, "more difference"))
		}
	}
	return differences
}

// differ tells what the first of two has otherwise; under a key with a ~, what only it has.
func differ(name string, has, lead map[string]string) (parts []string) {
	for _, key := range slices.Sorted(maps.Keys(has)) {
		once := strings.HasPrefix(key, "~") && lead[key] != ""
		if text := has[key]; text != "" && text != lead[key] && !once {
			parts = append(parts, name+text)
		}
	}
	return parts
}

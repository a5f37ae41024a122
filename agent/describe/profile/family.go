package profile

import (
	"maps"
	"slices"
	"strings"
)

// Structure is the same of profiles with the same tables and columns; "" without tables.
func (p Profile) Structure() string {
	if !p.Known() || len(p.Tables) == 0 {
		return ""
	}
	names := []string{p.Format}
	for _, t := range p.Tables {
		names = append(names, "\x00")
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, "\n")
}

// Beyond is what a request shows of a file of the structure of first, which is described: whatever
// changes how it is read, and then what else differs, in at most about chars bytes. What changes
// how it is read has several times as many.
func (p Profile) Beyond(first Profile, chars int) string {
	const reading = 4
	reads := differ("", p.Reads, first.Reads)
	var holds []string
	for n, t := range p.Tables {
		lead, name := first.Tables[n], ""
		if len(p.Tables) > 1 {
			name = t.Name + ": "
		}
		count := name + t.Count
		if t.Sample > 0 {
			count += ", figures from a sample"
		}
		reads = append(append(reads, count), differ(name, t.Reads, lead.Reads)...)
		for m, c := range t.Columns {
			reads = append(reads, differ(name+c.Name+": ", c.Reads, lead.Columns[m].Reads)...)
			holds = append(holds, differ(name+c.Name+": ", c.Holds, lead.Columns[m].Holds)...)
		}
	}
	text := joined(reads, "; ", reading*chars)
	if len(holds) > 0 {
		text += "; " + joined(holds, "; ", chars)
	}
	return text
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

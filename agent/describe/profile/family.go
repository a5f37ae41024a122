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
	return strings.Join(filled([]string{joined(differ(p.Reads, first.Reads), "; ", reading*chars),
		p.Count, joined(differ(p.Holds, first.Holds), "; ", chars)}), "; ")
}

// differ tells what the first of two has otherwise; under a key with a ~, what only it has.
func differ(has, lead map[string]string) (parts []string) {
	for _, key := range slices.Sorted(maps.Keys(has)) {
		once := strings.HasPrefix(key, "~") && lead[key] != ""
		if text := has[key]; text != lead[key] && !once {
			parts = append(parts, text)
		}
	}
	return filled(parts)
}

// filled are the texts that are not empty.
func filled(texts []string) []string {
	empty := func(text string) bool { return text == "" }
	return slices.DeleteFunc(slices.Clone(texts), empty)
}

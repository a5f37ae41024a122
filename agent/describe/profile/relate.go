package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// A side is a column that may match others.
type side struct {
	Column
	place, key string // in words
	table      int
}

// Relate tells which columns of the files match which, as a key matches what refers to it: most of
// the values of one are in the other, each of whose values stands in one row. There is a line for
// each such key; each other column has one match at most, the surest.
func Relate(names []string, profiles map[string]*Profile) string {
	const chars = 300 // of a line, about
	all := sides(names, profiles)
	found := make([][]string, len(all)) // by the key
	for a, from := range all {
		best, surest := 0, 0.0
		for b, in := range all[:a] {
			share := containment(from.Sketch, in.Sketch)
			if share > surest && in.table != from.table && refers(from.Column, in.Column, share) {
				best, surest = b, share
			}
		}
		if surest > 0 && surest < 1 {
			from.place += fmt.Sprintf(" (about %d%% of them)", int(100*surest))
		}
		if surest > 0 {
			found[best] = append(found[best], from.place)
		}
	}
	var lines []string
	for in, places := range found {
		if len(places) > 0 {
			lines = append(lines,
				all[in].place+all[in].key+" has the values of "+joined(places, "; ", chars))
		}
	}
	return strings.Join(lines, "\n")
}

// sides are the columns whose values may be those of a key, the likeliest keys first: those with
// the most values.
func sides(names []string, profiles map[string]*Profile) (all []side) {
	const most = 3000 // each is compared with each
	tables := 0
	for _, name := range names {
		for _, t := range profiles[name].Tables {
			tables++
			of, key := brief.OneLine(name), ", a key,"
			if t.Name != "" && t.Name != "$" {
				of = t.Name + " in " + of
			}
			if t.Sample > 0 {
				key = ", a key in a sample,"
			}
			for _, c := range t.Columns {
				if len(c.Sketch) > 0 {
					all = append(all, side{c, c.Name + " of " + of, key, tables})
				}
			}
		}
	}
	likely := func(s side) int {
		if s.Unique {
			return s.Distinct
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b side) int { return cmp.Compare(likely(b), likely(a)) })
	return all[:min(len(all), most)]
}

// unnamed is, folded, the name of a column that has none.
var unnamed = lazy.Regexp(`^(?:column \d+)?$`)

// refers reports whether the values of a column seem to be those of a key, which has about share of
// them: the words of one's name are among the other's, or there are many, which are no numbers.
func refers(a, key Column, share float64) bool {
	const many, most = 20, 0.8
	long, short := " "+Fold(a.Name)+" ", " "+Fold(key.Name)+" "
	if len(long) < len(short) {
		long, short = short, long
	}
	alike := strings.Contains(long, short) && !unnamed().MatchString(strings.TrimSpace(short))
	return key.Unique && share >= most && (alike || a.Type != "number" && a.Distinct >= many)
}

// sketchSize is the most hashes that a sketch has: one with fewer has all.
const sketchSize = 128

// containment is about what share of the values of a are in b: 0 if too few are known.
func containment(a, b []uint32) float64 {
	seen, in := 0, 0
	for _, h := range a {
		if len(b) >= sketchSize && h > b[len(b)-1] {
			break // beyond it b may have more values
		}
		seen++
		if _, ok := slices.BinarySearch(b, h); ok {
			in++
		}
	}
	if seen < 3 {
		return 0
	}
	return float64(in) / float64(seen)
}

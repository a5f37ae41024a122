package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

// A side is a column that may match others.
type side struct {
	Column
	table      int
	place, key string // in words
}

// Relate tells which columns of the files match which, as a key matches what refers to it: most of
// the values of one are in the other, each of whose values stands in one row. There is a line for
// each such key; each other column has one match at most, the likeliest.
func Relate(names []string, profiles map[string]*Profile) string {
	const chars = 300 // of a line, about
	all := sides(names, profiles)
	found := make([][]string, len(all)) // by the key
	for a, from := range all {
		for b, key := range all[:a] {
			share := from.within(key)
			if share == 0 {
				continue
			}
			if share < 1 {
				from.place += fmt.Sprintf(" (about %d%% of them)", int(100*share))
			}
			found[b] = append(found[b], from.place)
			break
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
		if !profiles[name].Known() {
			continue
		}
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
					all = append(all, side{c, tables, c.Name + " of " + of, key})
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

// within is about what share of a column's values are in a key, if they seem to be the key's: the
// words of one's name are among the other's, or there are many, which are no numbers.
func (s side) within(key side) float64 {
	const many, fewest, most, whole = 20, 3, 0.8, 128 // a sketch with fewer hashes has all
	if !key.Unique || s.table == key.table {
		return 0
	}
	seen, in := 0.0, 0.0
	for _, h := range s.Sketch {
		if last := len(key.Sketch) - 1; last >= whole-1 && h > key.Sketch[last] {
			break // beyond it the key may have more values
		}
		seen++
		if _, ok := slices.BinarySearch(key.Sketch, h); ok {
			in++
		}
	}
	if seen < fewest || in < most*seen {
		return 0
	}
	long, short := " "+fold(s.Name)+" ", " "+fold(key.Name)+" "
	if len(long) < len(short) {
		long, short = short, long
	}
	unnamed := short == "  " || strings.HasPrefix(short, " column ")
	if (unnamed || !strings.Contains(long, short)) && (s.Type == "number" || s.Distinct < many) {
		return 0
	}
	return in / seen
}

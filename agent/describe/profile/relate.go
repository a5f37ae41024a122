package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
)

// A side is a column that may match others.
type side struct {
	Column
	place       string // in words
	file, table int
	sampled     bool // what is said of it is of a sample
	likely      int  // that it is a key: whether its values are unique, and how many there are
}

// Relate tells which columns of the files match which, as a key matches what refers to it: most of
// the values of one are in the other, and there are many of them or the names are alike. There is a
// line for each column that has the values of others; each of these has one match at most, the
// surest.
func Relate(names []string, profiles map[string]*Profile) string {
	const most = 5 // columns in a line
	all := sides(names, profiles)
	found := make([][]string, len(all)) // by the column that has the values
	for a := range all {
		from, best, surest := &all[a], 0, 0.0
		for b := range all[:a] {
			in := &all[b]
			rank := containment(from.Sketch, in.Sketch)
			switch {
			case from.table == in.table || from.Name == in.Name && from.file == in.file:
			case !refers(&from.Column, &in.Column, rank):
			case in.Unique && rank+1 > surest:
				best, surest = b, rank+1
			case rank > surest:
				best, surest = b, rank
			}
		}
		place := from.place
		if share := containment(from.Sketch, all[best].Sketch); share < 1 {
			place += fmt.Sprintf(" (about %d%% of them)", int(100*share))
		}
		if surest > 0 {
			found[best] = append(found[best], place)
		}
	}
	var lines []string
	for in, places := range found {
		key, more := "", ""
		if all[in].Unique {
			key = ", a key,"
			if all[in].sampled {
				key = ", a key in a sample,"
			}
		}
		if left := len(places) - most; left > 0 {
			places, more = places[:most], " and "+human.Plural(left, "more column")
		}
		if len(places) > 0 {
			lines = append(lines, all[in].place+key+" has the values of "+strings.Join(places, "; ")+more)
		}
	}
	return strings.Join(lines, "\n")
}

// sides are the columns whose values may be those of a key, the likeliest keys first: those whose
// values are unique, and those with the most values.
func sides(names []string, profiles map[string]*Profile) (all []side) {
	const most = 3000 // each is compared with each
	tables := 0
	for n, name := range names {
		for _, t := range profiles[name].Tables {
			tables++
			of := brief.OneLine(name)
			if t.Name != "" && t.Name != "$" {
				of = t.Name + " in " + of
			}
			for _, c := range t.Columns {
				likely := c.Distinct
				if c.Unique {
					likely += 1 << 60
				}
				if len(all) < most && len(c.Sketch) >= 3 {
					all = append(all, side{c, c.Name + " of " + of, n, tables, t.Sample > 0, likely})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b side) int { return cmp.Compare(b.likely, a.likely) })
	return all
}

// refers reports whether the values of a seem to be those of b, which has about share of them.
// Whole numbers, which every count is in, need a name that is like that of a key.
func refers(a, b *Column, share float64) bool {
	const many = 20 // values, which are seldom the same by chance
	alike, number := similar(a.Name, b.Name), a.Type == "number"
	switch {
	case number && b.Type == "number":
		return alike && b.Unique && share >= 0.8 &&
			(identifies().MatchString(Fold(a.Name)) || a.Distinct > 2*many && share >= 0.95)
	case number || b.Type == "number":
		return a.Type == "list" && b.Unique && a.Distinct >= many && share >= 0.95
	case a.Distinct < many:
		return alike && share >= 0.8 && b.Unique
	}
	return share >= 0.8 || alike && share >= 0.5
}

// similar reports whether two names are one, or the words of one are a part of the other.
func similar(a, b string) bool {
	const least = len(" name ")
	a, b = " "+Fold(a)+" ", " "+Fold(b)+" "
	if unnamed().MatchString(a) || unnamed().MatchString(b) {
		return false
	}
	part := strings.Contains(a, b) || strings.Contains(b, a)
	return a == b || part && min(len(a), len(b)) >= least
}

var (
	unnamed = lazy.Regexp(`^ (?:column \d+)? $`)
	// identifies is in a name, folded, of a column that tells things apart.
	identifies = lazy.Regexp(`\b(?:id|code|key|nr|no|number|fip|zip|sku|isbn|idx)\b|id$`)
)

// sketchSize is the most hashes that a sketch has: one with fewer has all.
const sketchSize = 128

// containment is about what share of the values of a are in b.
func containment(a, b []uint32) float64 {
	limit := ^uint32(0)
	if len(b) >= sketchSize {
		limit = b[len(b)-1] // beyond it b may have more values
	}
	seen, in := 0, 0
	for _, h := range a {
		if h > limit {
			break
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

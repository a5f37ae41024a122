package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsstar/notebook/human"
)

// A side is a column that may match others.
type side struct {
	Column
	place       string // in words
	file, table int
	sampled     bool // what is said of it is of a sample
}

// A match tells that the values of a column are found in another.
type match struct {
	from, in int     // among the sides
	share    float64 // of the values of from that in has, about
	rank     float64 // how sure it is
}

// Relate tells which columns of the files match which, as a key matches what refers to it, in at
// most about chars bytes: most of the values of one are in the other, and there are many of them or
// the names are alike. Each column has one match at most, the surest, and the surest are first.
func Relate(names []string, profiles []Profile, chars int) string {
	all := sides(names, profiles)
	best := make([]match, len(all)) // by column
	for a := range all {
		for b := range all {
			if m := matched(all, a, b); m.rank > best[a].rank ||
				m.rank == best[a].rank && all[b].place < all[best[a].in].place {
				best[a] = m
			}
		}
	}
	// Of two columns that match each other, one is the key.
	found := slices.DeleteFunc(slices.Clone(best), func(m match) bool {
		back := best[m.in]
		return m.rank == 0 || back.rank > 0 && back.in == m.from && (back.rank > m.rank ||
			back.rank == m.rank && all[m.in].place >= all[m.from].place)
	})
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.rank, a.rank) })
	return inWords(all, found, chars)
}

// sides are the columns whose values may be those of a key.
func sides(names []string, profiles []Profile) (all []side) {
	const most = 3000 // each is compared with each
	tables := 0
	for n, p := range profiles {
		for _, t := range p.Tables {
			tables++
			of := names[n]
			if t.Name != "" && t.Name != "$" {
				of = t.Name + " in " + of
			}
			for _, c := range t.Columns {
				if len(all) < most && len(c.Sketch) >= 3 {
					all = append(all, side{c, c.Name + " of " + of, n, tables, t.Sample > 0})
				}
			}
		}
	}
	return all
}

// matched is the match of column a in column b, whose rank is 0 if the values of a do not seem to
// be those of b.
func matched(all []side, a, b int) match {
	from, in := &all[a], &all[b]
	m := match{from: a, in: b}
	if from.table == in.table || from.Name == in.Name && from.file == in.file {
		return m
	}
	if m.share = containment(from.Sketch, in.Sketch); refers(&from.Column, &in.Column, m.share) {
		m.rank = m.share
		if in.Unique {
			m.rank++
		}
	}
	return m
}

// many is how many values are seldom the same by chance.
const many = 20

// refers reports whether the values of a seem to be those of b, which has about share of them.
// Whole numbers, which every count is in, need a name that is like that of a key.
func refers(a, b *Column, share float64) bool {
	alike := similar(a.Name, b.Name)
	number := a.Type == "number"
	switch {
	case number && b.Type == "number":
		return alike && b.Unique && share >= 0.8 &&
			(identifies(a.Name) || a.Distinct > 2*many && share >= 0.95)
	case number || b.Type == "number":
		return a.Type == "list" && b.Unique && a.Distinct >= many && share >= 0.95
	case a.Distinct < many:
		return alike && share >= 0.8 && b.Unique
	}
	return share >= 0.8 || alike && share >= 0.5
}

// similar reports whether two names are one, or one is a part of the other.
func similar(a, b string) bool {
	flat := func(name string) string { return strings.ToLower(strings.Join(wordsOf(name), "")) }
	a, b = flat(a), flat(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	unnamed := strings.HasPrefix(a, "column") && strings.ContainsAny(a, "0123456789")
	return a != "" && !unnamed && (a == b || len(a) >= 4 && strings.Contains(b, a))
}

// identifies reports whether a name is that of a column which tells things apart.
func identifies(name string) bool {
	keys := strings.Fields("id ids code key nr no number fips zip sku isbn idx")
	return strings.HasSuffix(strings.ToLower(name), "id") ||
		slices.ContainsFunc(wordsOf(name), func(w string) bool {
			return slices.Contains(keys, strings.ToLower(w))
		})
}

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

// inWords is the matches as a request shows them: a line for each column that has the values of
// others.
func inWords(all []side, matches []match, chars int) string {
	const most = 5 // columns in a line
	var order []int
	from := map[int][]string{} // by the column that has the values
	for _, m := range matches {
		place := all[m.from].place
		if m.share < 1 {
			place += fmt.Sprintf(" (about %d%% of them)", int(100*m.share))
		}
		if from[m.in] == nil {
			order = append(order, m.in)
		}
		from[m.in] = append(from[m.in], place)
	}
	text := ""
	for n, in := range order {
		places, key, more := from[in], "", ""
		switch {
		case all[in].Unique && all[in].sampled:
			key = ", a key in a sample,"
		case all[in].Unique:
			key = ", a key,"
		}
		if left := len(places) - most; left > 0 {
			places, more = places[:most], " and "+human.Plural(left, "more column")
		}
		line := fmt.Sprintf("%s%s has the values of %s%s\n", all[in].place, key,
			strings.Join(places, "; "), more)
		if len(text)+len(line) > chars+1 {
			text += fmt.Sprintf("and %s with the values of others\n",
				human.Plural(len(order)-n, "more column"))
			break
		}
		text += line
	}
	return strings.TrimRight(text, "\n")
}

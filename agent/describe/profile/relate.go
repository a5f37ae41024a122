package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsstar/notebook/human"
)

// A Place is a column of a table of a file, or of one of several files.
type Place struct{ File, Table, Column string }

func (p Place) String() string {
	table := p.File
	if p.Table != "" && p.Table != "$" {
		table = p.Table + " in " + table
	}
	return p.Column + " of " + table
}

// A Match tells that the values of a column are found in another.
type Match struct {
	From, In Place
	Share    float64 // of the values of From that In has, about
	Key      bool    // In has each value once
	Sampled  bool    // as far as a sample tells
}

// sketchSize is the most hashes that a sketch has: one with fewer has all.
const sketchSize = 128

// side is a column that may match others.
type side struct {
	Place
	Column
	table   int
	sampled bool
}

// Relate tells which columns of the files match which, as a key matches what refers to it: most of
// the values of one are in the other, and there are many of them or the names are alike. Each
// column has one match at most, the surest, and the surest are first.
func Relate(names []string, profiles []Profile) []Match {
	all := sides(names, profiles)
	best := map[Place]Match{}
	for _, a := range all {
		for _, b := range all {
			m := Match{a.Place, b.Place, Containment(a.Sketch, b.Sketch), b.Unique, b.sampled}
			if a.table == b.table || a.Place.Column == b.Place.Column && a.File == b.File ||
				!refers(a, b, m.Share) {
				continue
			}
			if known, ok := best[a.Place]; !ok || m.surer(known) {
				best[a.Place] = m
			}
		}
	}
	var found []Match
	for _, a := range all {
		m, ok := best[a.Place]
		back := best[m.In]
		if ok && (back.In != a.Place || !back.surer(m) && (m.surer(back) || before(m.In, m.From))) {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.rank(), a.rank()) })
	return found
}

// sides are the columns whose values may be those of a key.
func sides(names []string, profiles []Profile) (all []side) {
	const most = 3000 // each is compared with each
	tables := 0
	for n, p := range profiles {
		for _, t := range p.Tables {
			tables++
			for _, c := range t.Columns {
				if len(all) < most && len(c.Sketch) >= 3 {
					all = append(all, side{Place{names[n], t.Name, c.Name}, c, tables, t.Sample > 0})
				}
			}
		}
	}
	return all
}

// many is how many values are seldom the same by chance.
const many = 20

// refers reports whether the values of a seem to be those of b, which has about share of them.
// Whole numbers, which every count is in, need a name that is like that of a key.
func refers(a, b side, share float64) bool {
	alike := similar(a.Place.Column, b.Place.Column)
	number := a.Type == "number"
	switch {
	case number && b.Type == "number":
		return alike && b.Unique && share >= 0.8 &&
			(identifies(a.Place.Column) || a.Distinct > 2*many && share >= 0.95)
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
	words := wordsOf(name)
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"id", "ids", "code", "key", "nr", "no", "number", "fips", "zip",
			"sku", "isbn", "idx"}, strings.ToLower(w))
	}) || strings.HasSuffix(strings.ToLower(name), "id")
}

// rank is how sure a match is.
func (m Match) rank() float64 {
	if m.Key {
		return m.Share + 1
	}
	return m.Share
}

// surer reports whether m is the match to take of two of one column, or of two columns with each
// other.
func (m Match) surer(other Match) bool {
	return m.rank() > other.rank() || m.rank() == other.rank() && m.From == other.From &&
		before(m.In, other.In)
}

func before(a, b Place) bool { return a.String() < b.String() }

// Containment is about what share of the values of a are in b.
func Containment(a, b []uint32) float64 {
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

// RelateText is the matches as a request shows them, in at most about chars bytes: a line for each
// column that has the values of others.
func RelateText(matches []Match, chars int) string {
	const most = 5 // columns in a line
	var lines []string
	line, count := map[Place]int{}, map[Place]int{}
	for _, m := range matches {
		from := m.From.String()
		if m.Share < 1 {
			from = fmt.Sprintf("%s (about %d%% of them)", from, int(100*m.Share))
		}
		count[m.In]++
		n, known := line[m.In]
		switch {
		case !known:
			key := ""
			switch {
			case m.Key && m.Sampled:
				key = ", a key in a sample,"
			case m.Key:
				key = ", a key,"
			}
			line[m.In] = len(lines)
			lines = append(lines, fmt.Sprintf("%s%s has the values of %s", m.In, key, from))
		case count[m.In] <= most:
			lines[n] += "; " + from
		}
	}
	for in, n := range line {
		if more := count[in] - most; more > 0 {
			lines[n] += " and " + human.Plural(more, "more column")
		}
	}
	var b strings.Builder
	for n, l := range lines {
		if b.Len()+len(l) > chars {
			fmt.Fprintf(&b, "and %s with the values of others\n",
				human.Plural(len(lines)-n, "more column"))
			break
		}
		b.WriteString(l + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

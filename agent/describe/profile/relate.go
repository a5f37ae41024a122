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
}

func (m Match) String() string {
	share := "all"
	if m.Share < 1 {
		share = fmt.Sprintf("%d%%", int(100*m.Share))
	}
	text := fmt.Sprintf("%s: %s of its values are in %s", m.From, share, m.In)
	if m.Key {
		text += " (a key)"
	}
	return text
}

// sketchSize is the most hashes that a sketch has: one with fewer has all.
const sketchSize = 128

// Relate tells which columns of the files match which: those with enough different values, most
// of which another column has, too. A column that matches a key matches nothing else. A small
// range of whole numbers, which every count is in, matches only a key or a column of the same
// name, and years match nothing. The surest matches are first.
func Relate(names []string, profiles []Profile) []Match {
	const most = 3000 // columns: each is compared with each
	type candidate struct {
		Place
		Column
		table int
	}
	var all []candidate
	tables := 0
	for n, p := range profiles {
		for _, t := range p.Tables {
			tables++
			for _, c := range t.Columns {
				if len(c.Sketch) >= 3 && len(all) < most && (c.Type == "text" || c.Type == "list" ||
					c.Type == "number" && c.Integer && !c.years()) {
					all = append(all, candidate{Place{names[n], t.Name, c.Name}, c, tables})
				}
			}
		}
	}
	var found []Match
	for _, a := range all {
		for _, b := range all {
			if a.table == b.table || (a.Type == "number") != (b.Type == "number") {
				continue
			}
			same := strings.EqualFold(words(a.Place.Column), words(b.Place.Column))
			share := Containment(a.Sketch, b.Sketch)
			if a.Type == "number" && (share < 0.8 || !b.Unique || !same &&
				!strings.Contains(words(a.Place.Column), words(b.Place.Column))) {
				continue
			}
			if share >= 0.8 || share >= 0.3 && (same || b.Unique && a.Distinct > 10) {
				found = append(found, Match{a.Place, b.Place, share, b.Unique})
			}
		}
	}
	return once(found)
}

func (c Column) years() bool {
	low, _ := c.Range[0].(float64)
	high, _ := c.Range[1].(float64)
	return low >= 1900 && high <= 2100
}

// rank is how sure a match is.
func (m Match) rank() float64 {
	if m.Key {
		return m.Share + 1
	}
	return m.Share
}

// once leaves of two columns that match each other the surer match, and of a column those with
// keys if there are any.
func once(all []Match) []Match {
	pairs, best := map[[2]Place]float64{}, map[Place]float64{}
	for _, m := range all {
		pairs[[2]Place{m.From, m.In}] = m.rank()
		best[m.From] = max(best[m.From], m.rank())
	}
	kept := all[:0]
	for _, m := range all {
		other := pairs[[2]Place{m.In, m.From}]
		if (m.Key || best[m.From] < 1.8) && (other < m.rank() ||
			other == m.rank() && m.From.String() < m.In.String()) {
			kept = append(kept, m)
		}
	}
	slices.SortStableFunc(kept, func(a, b Match) int { return cmp.Compare(b.rank(), a.rank()) })
	return kept
}

func words(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "").Replace(name))
}

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

// RelateText is the matches as a request shows them: lines of at most about chars bytes, those
// of a column with several others together.
func RelateText(matches []Match, chars int) string {
	type group struct {
		text string
		more int
	}
	var groups []*group
	byFrom := map[Place]*group{}
	for _, m := range matches {
		g := byFrom[m.From]
		switch {
		case g == nil:
			g = &group{text: m.String()}
			byFrom[m.From] = g
			groups = append(groups, g)
		case g.more < 2:
			g.text += fmt.Sprintf(", and most in %s", m.In)
			g.more++
		default:
			g.more++
		}
	}
	var b strings.Builder
	for n, g := range groups {
		if b.Len()+len(g.text) > chars {
			fmt.Fprintf(&b, "and %s\n", human.Plural(len(groups)-n, "more column"))
			break
		}
		b.WriteString(g.text)
		if g.more > 2 {
			fmt.Fprintf(&b, " and %s", human.Plural(g.more-2, "other"))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

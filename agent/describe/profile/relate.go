package profile

import (
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
// of which another column has, too. A small range of whole numbers, which every count is in,
// matches only a key or a column of the same name.
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
					c.Type == "number" && c.Integer) {
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
			if a.Type == "number" && !same && !(b.Unique && strings.Contains(
				words(a.Place.Column), words(b.Place.Column))) {
				continue
			}
			share := Containment(a.Sketch, b.Sketch)
			if share >= 0.8 || share >= 0.3 && (same || b.Unique && a.Distinct > 10) {
				found = append(found, Match{a.Place, b.Place, share, b.Unique})
			}
		}
	}
	return once(found)
}

// once leaves of two columns that match each other the stronger: into a key, or the larger
// share.
func once(all []Match) []Match {
	rank := func(m Match) float64 {
		if m.Key {
			return m.Share + 1
		}
		return m.Share
	}
	best := map[[2]Place]float64{}
	for _, m := range all {
		best[[2]Place{m.From, m.In}] = rank(m)
	}
	kept := all[:0]
	for _, m := range all {
		other, both := best[[2]Place{m.In, m.From}]
		if !both || other < rank(m) || other == rank(m) && m.From.String() < m.In.String() {
			kept = append(kept, m)
		}
	}
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
// of a column into several files together.
func RelateText(matches []Match, chars int) string {
	type group struct {
		text   string
		places []string
	}
	var groups []*group
	byFrom := map[string]*group{}
	for _, m := range matches {
		key := fmt.Sprintf("%s %s %v", m.From, m.In.Column, m.Key)
		if g := byFrom[key]; g != nil {
			g.places = append(g.places, m.In.File+" "+m.In.Table)
			continue
		}
		byFrom[key] = &group{text: m.String()}
		groups = append(groups, byFrom[key])
	}
	var b strings.Builder
	for n, g := range groups {
		if b.Len()+len(g.text) > chars {
			fmt.Fprintf(&b, "and %s\n", human.Plural(len(groups)-n, "more match"))
			break
		}
		b.WriteString(g.text)
		if len(g.places) > 0 {
			fmt.Fprintf(&b, ", and so in %s", human.Plural(len(g.places), "other table"))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

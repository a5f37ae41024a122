package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

// How urgent the parts of a table are. Those up to asked are told of all tables before the others.
const (
	named    = iota // the names of all columns
	misleads        // what misleads who does not know it
	asked           // what is nearest to the question, and what decides whether a row counts
	around          // titles and footnotes
	inFull
	rows
	holds
	inLines
	parts
)

const (
	mostAsked  = 12 // columns of a table that are told of in full
	mostTables = 60 // of a file that have a line of their own
)

// A draft is a text of pieces that grow while there is room, the most urgent first.
type draft struct {
	pieces []string // as they stand
	grow   []growth
}

// A growth is what a piece becomes if there is room.
type growth struct {
	piece, urge int
	text        string
}

// add adds a piece, and returns where it stands.
func (d *draft) add(text string) int {
	d.pieces = append(d.pieces, text)
	return len(d.pieces) - 1
}

// fill has the pieces grow to at most about chars bytes together.
func (d *draft) fill(chars int) {
	chars -= len(d.String())
	slices.SortStableFunc(d.grow, func(a, b growth) int { return a.urge - b.urge })
	for _, g := range d.grow {
		more := len(g.text) - len(d.pieces[g.piece])
		if d.pieces[g.piece] == "" {
			more++ // the end of a line
		}
		if g.text != "" && more > 0 && more <= chars {
			d.pieces[g.piece] = g.text
			chars -= more
		}
	}
}

func (d *draft) String() string {
	told := slices.DeleteFunc(slices.Clone(d.pieces), func(text string) bool { return text == "" })
	return strings.TrimRight(strings.Join(told, "\n"), "\n")
}

// Text is what a request shows of the profile in at most about chars bytes: of a table the names of
// its columns and what is nearest to the question first, and then the other columns near it; of a
// long document the sections near the question.
func (p Profile) Text(chars int, question string) string {
	d := draft{pieces: []string{cmp.Or(p.Headline, p.Format), p.Notes}}
	texts := make([]string, len(p.Tables))
	for n, t := range p.Tables {
		texts[n] = t.Name + " " + strings.Join(t.Names, " ")
	}
	var others []string // of a database with many tables
	place, _ := places(question, texts)
	for n, t := range p.Tables {
		if t.Explains { // the others
			place[n] = 0
		}
		if place[n] < mostTables {
			d.table(t, place[n], chars, question)
		} else {
			others = append(others, fmt.Sprintf("%s (%s)", t.Name, t.Count))
		}
	}
	if len(others) > 0 {
		d.add("\nother tables: " + brief.Clip(strings.Join(others, ", "), chars/4))
	}
	d.fill(chars)
	if p.Document != "" {
		p.document(&d, chars, question)
	}
	return brief.Lines(d.String(), chars)
}

// table adds a table, whose place is its nearness to the question among all tables.
func (d *draft) table(t Table, place, chars int, question string) {
	later := func(piece, part int, text string) {
		urge := (place+1)*parts*mostTables + part
		if part <= asked {
			urge = part*mostTables + place
		}
		d.grow = append(d.grow, growth{piece, urge, text})
	}
	d.add(t.Headline)
	whole := t.Every != "" && len(t.Every)+len(t.Around) < chars*2/3
	names := "columns: " + brief.Clip(strings.Join(t.Names, ", "), chars/3)
	if t.LeftOut > 0 {
		names += fmt.Sprintf(" and %d more", t.LeftOut)
	}
	later(d.add(""), misleads, t.Misleads)
	later(d.add(""), around, t.Around)
	later(d.add(""), holds, t.Holds)
	later(d.add(""), named, names)
	texts := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		texts[n] = strings.Join(append([]string{c.Name, c.Name, c.Line}, c.Among...), " ")
	}
	nearness, near := places(question, texts)
	for n, c := range t.Columns {
		later(d.add(""), inLines, c.Group) // with those after it
		piece := d.add("")
		tell := func(part int, text string) {
			if text != "" {
				later(piece, part, "- "+c.Name+": "+text+c.among(text, question))
			}
		}
		switch {
		case whole:
			tell(asked, c.Said)
		case nearness[n] < min(near, mostAsked):
			tell(asked, c.Line)
			tell(inFull, c.Full)
		case c.Keep:
			tell(asked, c.Line)
		case !c.Grouped:
			tell(inLines, c.Line)
		}
	}
	if whole {
		later(d.add(""), inFull, t.Every)
	} else {
		later(d.add(""), rows, t.Row)
	}
}

// among tells which values that the question may name a text does not tell, if these are few.
func (c Column) among(text, question string) string {
	const most = 6
	order, near := Near(question, c.Among, nearly)
	if c.Type == "number" || near > most { // whose range tells
		return ""
	}
	values := "; among them"
	for _, i := range order[:near] {
		if v := c.Among[i]; !strings.Contains(text, v) {
			values += " " + v + ","
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(values, "; among them"), ",")
}

// document adds a document to a text: whole, or the sections near the question and the beginnings
// of the others.
func (p Profile) document(d *draft, chars int, question string) {
	room, what := chars-len(d.String())-30, "text"
	if room < min(300, len(p.Document)) {
		return
	}
	text := excerpt(p.Document, p.Sections, room, question)
	if len(text) != len(p.Document) {
		what = "parts of the text"
	} else if p.Cut {
		what = "the beginning of the text"
	}
	d.add(what + ":\n" + text)
}

// excerpt is a text in at most about n bytes: its beginning, the sections near the question, and of
// the others the first lines.
func excerpt(text string, starts []int, n int, question string) string {
	if len(text) <= n || len(starts) < 4 {
		return brief.Lines(text, n)
	}
	var d draft
	var sections, about []string
	for i, end := range append(slices.Clone(starts[1:]), len(text)) {
		section := strings.TrimRight(text[starts[i]:end], "\n")
		heading, _, _ := strings.Cut(section, "\n")
		sections, about = append(sections, section), append(about, heading+"\n"+heading+"\n"+section)
		d.grow = append(d.grow, growth{d.add(""), len(starts), fmt.Sprintf("%.100s […]", heading)})
	}
	place, near := places(question, about)
	place[0] = -1
	for i, s := range sections {
		if place[i] >= near {
			place[i] += len(starts) // after the headings
		}
		d.grow = append(d.grow, growth{i, place[i], s})
	}
	d.fill(n)
	return d.String()
}

// Beyond is what a request shows of a file of the structure of first, which is described: whatever
// changes how it is read, and then what else differs, in at most about chars bytes.
func (p Profile) Beyond(first Profile, chars int) string {
	told := slices.Concat(differ(p.Reads, first.Reads), []string{p.Count}, differ(p.Holds, first.Holds))
	told = slices.DeleteFunc(told, func(text string) bool { return text == "" })
	return brief.Clip(strings.Join(told, "; "), chars)
}

// differ tells what the first of two has otherwise; under a key with a ~, what only it has.
func differ(has, lead map[string]string) (parts []string) {
	for _, key := range slices.Sorted(maps.Keys(has)) {
		once := strings.HasPrefix(key, "~") && lead[key] != ""
		if text := has[key]; text != lead[key] && !once {
			parts = append(parts, text)
		}
	}
	return parts
}

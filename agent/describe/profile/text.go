package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

// A Ranker returns the indexes of texts, those with most in common with a question first.
type Ranker func(texts []string) []int

// How urgent the parts of a table are. Those up to asked are told of all tables before the others.
const (
	named    = iota // the names of all columns
	misleads        // what misleads who does not know it
	asked           // what the question names, and what decides whether a row counts
	around          // titles and footnotes
	inFull
	rows
	holds
	inBrief
	inLines
	parts
)

const (
	mostColumns = 40 // of a table that are told of, were it not for the question
	mostTables  = 60 // of a file that have a line of their own
	namesChars  = 1500
	aroundChars = 1500 // of the words beside tables
)

// A draft is a text of pieces that grow while there is room, the most urgent first.
type draft struct {
	pieces []string // as they stand
	grow   []growth
}

// A growth is what a piece may become.
type growth struct {
	piece, urge int
	text        string
}

// add adds a piece, and returns where it stands.
func (d *draft) add(text string) int {
	d.pieces = append(d.pieces, text)
	return len(d.pieces) - 1
}

// later adds what a piece becomes if there is room.
func (d *draft) later(piece, urge int, text string) {
	d.grow = append(d.grow, growth{piece, urge, text})
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
	return strings.TrimRight(strings.Join(filled(d.pieces), "\n"), "\n")
}

// Text is what a request shows of the profile in at most about chars bytes: of a table the names of
// its columns and what the question names first, and then the columns near the question; of a long
// document the sections near the question.
func (p Profile) Text(question string, chars int, rank Ranker) string {
	var d draft
	d.add(cmp.Or(p.Headline, p.Format))
	d.add(p.Notes)
	texts := make([]string, len(p.Tables))
	for n, t := range p.Tables {
		texts[n] = t.Name + " " + strings.Join(t.Names, " ")
	}
	place := places(texts, rank)
	var others []string // of a database with many tables
	var tellers []*teller
	for n, t := range p.Tables {
		switch {
		case t.Explains: // the others
			place[n] = 0
		case place[n] >= mostTables:
			others = append(others, fmt.Sprintf("%s (%s)", t.Name, t.Count))
			continue
		}
		d.add(t.Headline)
		teller := &teller{Table: t, draft: &d, question: question, place: place[n]}
		teller.table(chars, rank)
		tellers = append(tellers, teller)
	}
	if len(others) > 0 {
		d.add("\nother tables: " + joined(others, ", ", chars/4))
	}
	d.fill(chars)
	for _, t := range tellers { // the columns have their names in order, if each is told of
		untold := func(piece int) bool { return d.pieces[piece] == "" }
		if !t.whole && t.LeftOut == 0 && !slices.ContainsFunc(t.tell, untold) {
			d.pieces[t.names] = ""
		}
	}
	if p.Document != "" {
		p.document(&d, chars, rank)
	}
	return brief.Lines(d.String(), chars)
}

// A teller adds a table to a draft.
type teller struct {
	Table
	*draft
	question string
	place    int   // of the table, from the nearest to the question
	whole    bool  // all rows are shown
	names    int   // the piece that names the columns
	tell     []int // the pieces that tell of all columns
}

// say adds what a piece becomes if there is room.
func (t *teller) say(piece, part int, text string) {
	urge := (t.place+1)*parts*mostTables + part
	if part <= asked {
		urge = part*mostTables + t.place
	}
	t.later(piece, urge, text)
}

func (t *teller) table(chars int, rank Ranker) {
	t.whole = t.Every != "" && len(t.Every)+len(t.Around) < chars*2/3
	t.say(t.add(""), misleads, t.Misleads)
	names := "columns: " + joined(t.Names, ", ", min(namesChars, chars/3))
	if t.LeftOut > 0 {
		names += fmt.Sprintf(" and %d more", t.LeftOut)
	}
	t.names = t.add("")
	t.say(t.names, named, names)
	t.say(t.add(""), around, t.Around)
	t.say(t.add(""), holds, t.Holds)
	texts := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		texts[n] = c.Name + " " + c.Line
	}
	for n, place := range places(texts, rank) {
		t.column(t.Columns[n], place < mostColumns)
	}
	if t.whole {
		t.say(t.add(""), inFull, t.Every)
	} else {
		t.say(t.add(""), rows, t.Row)
	}
}

// column adds a column, which may be told of in a group, and may be near the question.
func (t *teller) column(c Column, near bool) {
	if c.Group != "" {
		t.tell = append(t.tell, t.add(""))
		t.say(len(t.pieces)-1, inBrief, c.Group)
	}
	piece, values := t.add(""), c.named(t.question)
	isAsked := len(values) > 0 || asks(t.question, c.Name)
	if c.Type == "number" {
		values = nil // the range tells
	}
	if !c.Grouped {
		t.tell = append(t.tell, piece)
	}
	say := func(part int, text string) {
		if text != "" {
			t.say(piece, part, "- "+c.Name+": "+text+among(values, text))
		}
	}
	switch {
	case t.whole:
		say(asked, c.Said)
	case isAsked || c.Keep:
		say(asked, c.Line)
		if isAsked {
			say(inFull, c.Full)
		}
	case !c.Grouped && near:
		say(inBrief, cmp.Or(c.Brief, c.Line))
		say(inLines, c.Line)
	}
}

// among tells which of the values that a question names a text does not.
func among(values []string, text string) string {
	const most = 12
	told := func(value string) bool { return strings.Contains(text, value) }
	others := slices.DeleteFunc(slices.Clone(values), told)
	if len(others) == 0 {
		return ""
	}
	return "; among them " + strings.Join(others[:min(len(others), most)], ", ")
}

// document adds a document to a text: whole, or the sections near the question and the beginnings
// of the others.
func (p Profile) document(d *draft, chars int, rank Ranker) {
	const least = 300
	room := chars - len(d.String()) - 30
	if len(p.Tables) > 0 {
		room = min(room, aroundChars)
	}
	if room < min(least, len(p.Document)) {
		return
	}
	text, what := excerpt(p.Document, p.Sections, room, rank), "text"
	switch {
	case len(text) != len(p.Document):
		what = "parts of the text"
	case p.Cut:
		what = "the beginning of the text"
	}
	d.add(what + ":\n" + text)
}

// excerpt is a text in at most about n bytes: its beginning, the sections near the question, and of
// the others the first lines.
func excerpt(text string, starts []int, n int, rank Ranker) string {
	if len(text) <= n || len(starts) < 4 {
		return brief.Lines(text, n)
	}
	const headings, title = 3, 100 // a third of the room at most; letters of one
	var d draft
	chapter, ends := "", append(slices.Clone(starts[1:]), len(text))
	sections, titles := make([]string, len(starts)), make([]string, len(starts))
	about := make([]string, len(starts))
	for i, start := range starts {
		sections[i] = strings.TrimRight(text[start:ends[i]], "\n")
		titles[i], _, _ = strings.Cut(sections[i], "\n")
		if strings.HasPrefix(strings.TrimPrefix(titles[i], "#"), "# ") {
			chapter = titles[i]
		}
		about[i] = strings.Repeat(chapter+"\n"+titles[i]+"\n", 2) + sections[i]
	}
	place := places(about, rank)
	place[0] = -1
	for i, s := range sections {
		piece := d.add("")
		if len(starts)*title/2 < n/headings {
			d.later(piece, i, fmt.Sprintf("%.*s […]", title, titles[i]))
		}
		d.later(piece, len(starts)*(place[i]+2), s)
	}
	d.fill(n)
	return d.String()
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

// places are the places of texts in the order of their nearness to the question.
func places(texts []string, rank Ranker) []int {
	place := make([]int, len(texts))
	for n, i := range rank(texts) {
		place[i] = n
	}
	return place
}

// joined are as many texts as n bytes have room for, one at least, and how many more there are.
func joined(texts []string, between string, n int) string {
	for i, text := range texts {
		if n -= len(text) + len(between); n < 0 && i > 0 {
			return fmt.Sprintf("%s … and %d more", strings.Join(texts[:i], between), len(texts)-i)
		}
	}
	return strings.Join(texts, between)
}

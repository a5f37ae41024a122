package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dsstar/agent/brief"
)

// A Ranker returns the indexes of texts, those with most in common with the question first.
type Ranker func(question string, texts []string) []int

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
	callChars   = 100  // of a call in a line
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
	if text != "" {
		d.grow = append(d.grow, growth{piece, urge, text})
	}
}

// fill has the pieces grow to at most about chars bytes together.
func (d *draft) fill(chars int) {
	chars -= d.size()
	slices.SortStableFunc(d.grow, func(a, b growth) int { return a.urge - b.urge })
	for _, g := range d.grow {
		more := len(g.text) - len(d.pieces[g.piece])
		if d.pieces[g.piece] == "" {
			more++
		}
		if more > 0 && more <= chars {
			d.pieces[g.piece] = g.text
			chars -= more
		}
	}
}

// size is how long the text is.
func (d *draft) size() (n int) {
	for _, text := range d.pieces {
		if text != "" {
			n += len(text) + 1
		}
	}
	return n
}

func (d *draft) String() string {
	text := strings.Join(slices.DeleteFunc(d.pieces, func(s string) bool { return s == "" }), "\n")
	return strings.TrimRight(text, "\n")
}

// Text is what a request shows of the profile in at most about chars bytes: of a table what the
// question names first, then the names of its columns, and the columns near the question; of a long
// document the sections near the question.
func (p Profile) Text(question string, chars int, rank Ranker) string {
	var d draft
	d.add(strings.Join(append([]string{cmp.Or(p.Headline, p.Format)}, p.Lines...), "\n"))
	d.add(notes(append(slices.Clone(p.Warnings), p.Problem)))
	tables := make([]string, len(p.Tables))
	for n, t := range p.Tables {
		tables[n] = t.Name + " " + strings.Join(t.Names, " ")
	}
	place := places(question, tables, rank)
	for n, t := range p.Tables {
		if t.Explains {
			place[n] = 0
		}
	}
	first := map[string]int{} // by the names of columns: the nearest table
	for n, t := range p.Tables {
		for _, c := range t.Columns {
			if known, ok := first[c.Name]; !ok || place[n] < known {
				first[c.Name] = place[n]
			}
		}
	}
	drop := make([]func(), 0, len(p.Tables))
	var others []string // of a database with many tables
	for n, t := range p.Tables {
		if place[n] >= mostTables {
			others = append(others, fmt.Sprintf("%s (%d)", t.Name, t.Rows))
			continue
		}
		switch {
		case len(p.Tables) > 1:
			d.add(fmt.Sprintf("\n%s: %s", cmp.Or(t.Name, fmt.Sprintf("table %d", n+1)), t.Headline))
		case t.Name != "" && t.Name != "$":
			d.add(t.Name + ": " + t.Headline)
		default:
			d.add(t.Headline)
		}
		drop = append(drop, t.draft(&d, question, place[n], first, chars, rank))
	}
	if len(others) > 0 {
		d.add("\nother tables, with their rows: " + joined(others, chars/4))
	}
	d.fill(chars)
	for _, f := range drop {
		f()
	}
	if p.Document != "" {
		p.document(&d, question, chars, rank)
	}
	return brief.Lines(d.String(), chars)
}

// draft adds a table to a text, of which it is the place-th from the nearest to the question. The
// function is called when the text is made, and takes out what it says twice.
func (t Table) draft(d *draft, question string, place int, first map[string]int, chars int,
	rank Ranker) func() {
	urge := func(part int) int {
		if part <= asked {
			return part*mostTables + place
		}
		return (place+1)*parts*mostTables + part
	}
	if t.Call != "" && !t.Usual {
		d.later(d.add(""), urge(misleads), "read: "+t.Call)
	}
	d.later(d.add(""), urge(misleads), notes(t.Warnings))
	names := d.add("")
	d.later(names, urge(named), "columns: "+joined(t.Names, min(namesChars, chars/3))+leftOut(t.LeftOut))
	d.later(d.add(""), urge(around), strings.Join(t.Around, "\n"))
	d.later(d.add(""), urge(holds), strings.Join(t.Holds, "\n"))
	tells := map[int]int{} // by piece: of how many columns
	whole := t.Whole && len(t.Row) < chars*2/3
	texts := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		texts[n] = c.Name + " " + c.Line
	}
	near := places(question, texts, rank)
	groups := t.Groups
	for n, c := range t.Columns {
		for len(groups) > 0 && n > groups[0].Last {
			groups = groups[1:]
		}
		grouped := len(groups) > 0 && n >= groups[0].First
		if grouped && n == groups[0].First && !whole {
			group := d.add("")
			d.later(group, urge(inBrief), groups[0].Text)
			tells[group] = groups[0].Last - n + 1
		}
		piece, values := d.add(""), c.named(question)
		isAsked := len(values) > 0 || asks(question, c.Name)
		if !grouped {
			tells[piece] = 1
		}
		say := func(part int, text string) {
			if text != "" {
				d.later(piece, urge(part), "- "+c.Name+": "+text+among(values, text))
			}
		}
		switch {
		case whole:
			say(asked, c.Said)
		case isAsked || c.Keep:
			say(asked, c.Line)
			if isAsked && first[c.Name] == place {
				say(inFull, c.Full)
			}
		case !grouped && near[n] < mostColumns:
			say(inBrief, cmp.Or(c.Brief, c.Line))
			say(inLines, c.Line)
		}
	}
	if whole || !t.Whole {
		d.later(d.add(""), urge(rows), t.Row)
	}
	return func() {
		left := len(t.Columns)
		for piece, columns := range tells {
			if d.pieces[piece] != "" {
				left -= columns
			}
		}
		if left == 0 && !whole && t.LeftOut == 0 {
			d.pieces[names] = "" // they stand in order
		}
	}
}

// among tells which of the values that a question names a text does not.
func among(values []string, text string) string {
	const most = 12
	values = slices.DeleteFunc(values, func(v string) bool { return strings.Contains(text, v) })
	if len(values) == 0 {
		return ""
	}
	return "; among them " + strings.Join(values[:min(len(values), most)], ", ")
}

func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func notes(texts []string) string {
	var lines []string
	for _, note := range texts {
		if note != "" {
			lines = append(lines, "Note: "+note)
		}
	}
	return strings.Join(lines, "\n")
}

// document adds a document to a text: whole, or the sections near the question and the beginnings of
// the others.
func (p Profile) document(d *draft, question string, chars int, rank Ranker) {
	const least = 300
	room := chars - d.size() - 30
	if len(p.Tables) > 0 {
		room = min(room, aroundChars)
	}
	if room < min(least, len(p.Document)) {
		return
	}
	text, what := excerpt(p.Document, p.Sections, question, room, rank), "text"
	switch {
	case p.Cut && len(text) == len(p.Document):
		what = "the beginning of the text"
	case len(text) != len(p.Document):
		what = "parts of the text"
	}
	d.add(what + ":\n" + text)
}

// excerpt is a text in at most about n bytes: its beginning, the sections near the question, and of
// the others the first lines.
func excerpt(text string, starts []int, question string, n int, rank Ranker) string {
	if len(text) <= n || rank == nil || len(starts) < 4 {
		return brief.Lines(text, n)
	}
	const headings, title = 3, 100 // a third of the room at most; bytes of one
	var d draft
	sections, about := make([]string, len(starts)), make([]string, len(starts))
	chapter := ""
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		sections[i] = strings.TrimRight(text[start:end], "\n")
		line, _, _ := strings.Cut(sections[i], "\n")
		if strings.HasPrefix(strings.TrimPrefix(line, "#"), "# ") {
			chapter = line
		}
		about[i] = strings.Repeat(chapter+"\n"+line+"\n", 2) + sections[i]
	}
	place := places(question, about, rank)
	for i, s := range sections {
		line, _, _ := strings.Cut(s, "\n")
		piece := d.add("")
		if len(starts)*title/2 < n/headings {
			d.later(piece, i, shortened(line, title)+" […]")
		}
		if i == 0 {
			place[i] = -1
		}
		d.later(piece, len(starts)*(place[i]+2), s)
	}
	d.fill(n)
	return d.String()
}

// Line is what is told of a file that has little to do with the question, in at most about chars
// bytes.
func (p Profile) Line(chars int) string {
	parts := []string{cmp.Or(p.Headline, p.Format)}
	for _, t := range p.Tables {
		size, _, _ := strings.Cut(t.Headline, ";")
		if !t.Usual && len(p.Tables) == 1 && t.Call != "" && len(t.Call) < callChars {
			size = t.Call + "; " + size
		}
		parts = append(parts, strings.TrimPrefix(t.Name+": ", ": ")+size+": "+
			joined(t.Names, max(chars/2, chars-len(p.Headline)-len(size)-10)))
	}
	if len(p.Tables) == 0 {
		said := append(append(slices.Clone(p.Warnings), p.Problem), strings.Fields(head(p.Document, chars))...)
		parts = append(parts, strings.Trim(strings.Join(said, " "), " "))
	}
	return shortened(strings.TrimRight(strings.Join(parts, "; "), "; "), chars)
}

// Words are the names in the file, the words among its values, and what is said around its tables: what
// the file is about.
func (p Profile) Words() string {
	const most = 60 // values of a column
	words := []string{head(p.Document, 2000)}
	for _, t := range p.Tables {
		words = append(append(append(words, t.Name), t.Head...), t.Raw[:min(len(t.Raw), 2)]...)
		for _, c := range t.Columns {
			words = append(append(words, c.Name), c.Among[:min(len(c.Among), most)]...)
		}
	}
	return strings.Join(words, "\n")
}

// places are the places of texts in the order of their nearness to the question.
func places(question string, texts []string, rank Ranker) []int {
	place := make([]int, len(texts))
	for n := range place {
		place[n] = n
	}
	if rank != nil && len(texts) > 1 {
		for n, i := range rank(question, texts) {
			place[i] = n
		}
	}
	return place
}

// joined names as many as n bytes have room for, and says how many more there are.
func joined(names []string, n int) string {
	for i, name := range names {
		if n -= len(name) + 2; n < 0 && i > 0 {
			return fmt.Sprintf("%s … and %d more", strings.Join(names[:i], ", "), len(names)-i)
		}
	}
	return strings.Join(names, ", ")
}

// shortened is the beginning of a text up to the end of a word, or the text itself if little would be
// saved.
func shortened(text string, n int) string {
	const mark = 20
	if len(text) <= n+mark {
		return text
	}
	text = head(text, n)
	if i := strings.LastIndexAny(text, " \n"); i > n/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " ,;\n") + " …"
}

func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

package profile

import (
	"cmp"
	"fmt"
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

// Text is what a request shows of the profile in at most about chars bytes: of a table the names of
// its columns and what the question names first, and then the columns near the question; of a long
// document the sections near the question.
func (p Profile) Text(question string, chars int, rank Ranker) string {
	var d draft
	d.add(strings.Join(append([]string{cmp.Or(p.Headline, p.Format)}, p.Lines...), "\n"))
	d.add(notes(append(slices.Clone(p.Warnings), p.Problem)))
	place := p.placesOfTables(rank)
	nearest := map[string]int{} // by the names of columns: the place of the nearest table
	for n, t := range p.Tables {
		for _, c := range t.Columns {
			if known, ok := nearest[c.Name]; !ok || place[n] < known {
				nearest[c.Name] = place[n]
			}
		}
	}
	var others []string // of a database with many tables
	var tellers []*teller
	for n, t := range p.Tables {
		if place[n] >= mostTables {
			others = append(others, fmt.Sprintf("%s (%s)", t.Name, t.Count))
			continue
		}
		title := strings.TrimPrefix(strings.TrimSuffix(t.Name+": ", "$: "), ": ") + t.Headline
		if len(p.Tables) > 1 {
			title = "\n" + cmp.Or(t.Name, fmt.Sprintf("table %d", n+1)) + ": " + t.Headline
		}
		d.add(title)
		teller := &teller{Table: t, draft: &d, question: question, rank: rank, place: place[n],
			nearest: nearest, tells: map[int]int{}}
		teller.table(chars)
		tellers = append(tellers, teller)
	}
	if len(others) > 0 {
		d.add("\nother tables: " + joined(others, chars/4))
	}
	d.fill(chars)
	for _, t := range tellers {
		t.tellOnce()
	}
	if p.Document != "" {
		p.document(&d, chars, rank)
	}
	return brief.Lines(d.String(), chars)
}

// placesOfTables are the places of tables in the order of their nearness to the question. One that
// explains the others comes first.
func (p Profile) placesOfTables(rank Ranker) []int {
	texts := make([]string, len(p.Tables))
	for n, t := range p.Tables {
		texts[n] = t.Name + " " + strings.Join(t.Names, " ")
	}
	place := places(texts, rank)
	for n, t := range p.Tables {
		if t.Explains {
			place[n] = 0
		}
	}
	return place
}

// A teller adds a table to a draft.
type teller struct {
	Table
	*draft
	question string
	rank     Ranker
	place    int            // of the table, from the nearest to the question
	nearest  map[string]int // by the names of columns: the place of the nearest table
	whole    bool           // all rows are shown
	names    int            // the piece that names the columns
	tells    map[int]int    // by piece: of how many columns it tells
}

// say adds a piece that is told if there is room, and returns where it stands.
func (t *teller) say(part int, text string) int {
	piece := t.add("")
	t.sayAt(piece, part, text)
	return piece
}

func (t *teller) sayAt(piece, part int, text string) {
	urge := (t.place+1)*parts*mostTables + part
	if part <= asked {
		urge = part*mostTables + t.place
	}
	t.later(piece, urge, text)
}

func (t *teller) table(chars int) {
	beside := strings.Join(t.Around, "\n")
	t.whole = t.Whole && len(t.Row)+len(beside) < chars*2/3
	if t.Call != "" && !t.Usual {
		t.say(misleads, "read: "+t.Call)
	}
	t.say(misleads, notes(t.Warnings))
	names := "columns: " + joined(t.Names, min(namesChars, chars/3))
	if t.LeftOut > 0 {
		names += fmt.Sprintf(" and %d more", t.LeftOut)
	}
	t.names = t.say(named, names)
	t.say(around, beside)
	t.say(holds, strings.Join(t.Holds, "\n"))
	t.columns()
	switch {
	case t.whole:
		t.say(inFull, t.Row)
	case t.Whole:
		t.say(rows, "first row:\n"+strings.SplitN(t.Row, "\n", 3)[1])
	default:
		t.say(rows, t.Row)
	}
}

func (t *teller) columns() {
	texts := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		texts[n] = c.Name + " " + c.Line
	}
	near := places(texts, t.rank)
	for n, c := range t.Columns {
		group := slices.IndexFunc(t.Groups, func(g Group) bool { return g.First <= n && n <= g.Last })
		if group >= 0 && t.Groups[group].First == n && !t.whole {
			piece := t.say(inBrief, t.Groups[group].Text)
			t.tells[piece] = t.Groups[group].Last - n + 1
		}
		t.column(c, group >= 0, near[n] < mostColumns)
	}
}

// column adds a column, which may be told of in a group, and may be near the question.
func (t *teller) column(c Column, grouped, near bool) {
	piece, values := t.add(""), c.named(t.question)
	isAsked := len(values) > 0 || asks(t.question, c.Name)
	if c.Type == "number" {
		values = nil // the range tells
	}
	if !grouped {
		t.tells[piece] = 1
	}
	say := func(part int, text string) {
		if text != "" {
			t.sayAt(piece, part, "- "+c.Name+": "+text+among(values, text))
		}
	}
	switch {
	case t.whole:
		say(asked, c.Said)
	case isAsked || c.Keep:
		say(asked, c.Line)
		if isAsked && t.nearest[c.Name] == t.place {
			say(inFull, c.Full)
		}
	case !grouped && near:
		say(inBrief, cmp.Or(c.Brief, c.Line))
		say(inLines, c.Line)
	}
}

// tellOnce takes out the names of the columns where what is told of each has them in order.
func (t *teller) tellOnce() {
	left := len(t.Columns) + t.LeftOut
	for piece, columns := range t.tells {
		if t.pieces[piece] != "" {
			left -= columns
		}
	}
	if left == 0 && !t.whole {
		t.pieces[t.names] = ""
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

func notes(texts []string) string {
	var lines []string
	for _, note := range texts {
		if note != "" {
			lines = append(lines, "Note: "+note)
		}
	}
	return strings.Join(lines, "\n")
}

// document adds a document to a text: whole, or the sections near the question and the beginnings
// of the others.
func (p Profile) document(d *draft, chars int, rank Ranker) {
	const least = 300
	room := chars - d.size() - 30
	if len(p.Tables) > 0 {
		room = min(room, aroundChars)
	}
	if room < min(least, len(p.Document)) {
		return
	}
	text, what := excerpt(p.Document, p.Sections, room, rank), "text"
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
func excerpt(text string, starts []int, n int, rank Ranker) string {
	if len(text) <= n || rank == nil || len(starts) < 4 {
		return brief.Lines(text, n)
	}
	const headings, title = 3, 100 // a third of the room at most; bytes of one
	var d draft
	sections, titles := make([]string, len(starts)), make([]string, len(starts))
	about := make([]string, len(starts))
	chapter := ""
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		sections[i] = strings.TrimRight(text[start:end], "\n")
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
			d.later(piece, i, shortened(titles[i], title)+" […]")
		}
		d.later(piece, len(starts)*(place[i]+2), s)
	}
	d.fill(n)
	return d.String()
}

// Words are what the file is about, with those of its years that a question names.
func (p Profile) Words(question string) string {
	words := []string{p.About}
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if c.Type == "number" {
				words = append(words, c.named(question)...)
			}
		}
	}
	return strings.Join(words, "\n")
}

// places are the places of texts in the order of their nearness to the question.
func places(texts []string, rank Ranker) []int {
	place := make([]int, len(texts))
	for n := range place {
		place[n] = n
	}
	if rank != nil && len(texts) > 1 {
		for n, i := range rank(texts) {
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

// shortened is the beginning of a text up to the end of a word, or the text itself if little would
// be saved.
func shortened(text string, n int) string {
	const mark = 20
	if len(text) <= n+mark {
		return text
	}
	text = strings.ToValidUTF8(text[:n], "")
	if i := strings.LastIndexAny(text, " \n"); i > n/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " ,;\n") + " …"
}

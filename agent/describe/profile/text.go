package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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

// firstLine is where the names of columns go without saying.
const firstLine = "header in line 1"

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

// Text is what a request shows of the profile in at most about chars bytes: of a table the names of
// its columns and what the question names first, and then the columns near the question; of a long
// document the sections near the question.
func (p Profile) Text(question string, chars int, rank Ranker) string {
	var d draft
	d.add(strings.Join(append([]string{cmp.Or(p.Headline, p.Format)}, p.Lines...), "\n"))
	d.add(notes(append(slices.Clone(p.Warnings), p.Problem)))
	place := p.placesOfTables(rank)
	first := map[string]int{} // by the names of columns: the place of the nearest table
	for n, t := range p.Tables {
		for _, c := range t.Columns {
			if known, ok := first[c.Name]; !ok || place[n] < known {
				first[c.Name] = place[n]
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
		name := strings.TrimSuffix(t.Name+": ", "$: ")
		if len(p.Tables) > 1 {
			name = "\n" + cmp.Or(t.Name, fmt.Sprintf("table %d", n+1)) + ": "
		}
		d.add(strings.TrimPrefix(name, ": ") + t.Headline)
		teller := &teller{Table: t, draft: &d, question: question, rank: rank, place: place[n], first: first,
			whole: t.Whole && len(t.Row)+len(strings.Join(t.Around, "\n")) < chars*2/3}
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
	first    map[string]int // by the names of columns: the place of the nearest table
	whole    bool           // all rows are shown
	names    int            // the piece that names the columns
	tells    map[int]int    // by piece: of how many columns it tells
}

func (t *teller) say(piece, part int, text string) {
	urge := (t.place+1)*parts*mostTables + part
	if part <= asked {
		urge = part*mostTables + t.place
	}
	t.later(piece, urge, text)
}

func (t *teller) table(chars int) {
	if t.Call != "" && !t.Usual {
		t.say(t.add(""), misleads, "read: "+t.Call)
	}
	t.say(t.add(""), misleads, notes(t.Warnings))
	t.names, t.tells = t.add(""), map[int]int{}
	names := "columns: " + joined(t.Names, min(namesChars, chars/3))
	if t.LeftOut > 0 {
		names += fmt.Sprintf(" and %d more", t.LeftOut)
	}
	t.say(t.names, named, names)
	t.say(t.add(""), around, strings.Join(t.Around, "\n"))
	t.say(t.add(""), holds, strings.Join(t.Holds, "\n"))
	t.columns()
	switch {
	case t.whole:
		t.say(t.add(""), inFull, t.Row)
	case t.Whole:
		t.say(t.add(""), rows, "first row:\n"+strings.SplitN(t.Row, "\n", 3)[1])
	default:
		t.say(t.add(""), rows, t.Row)
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
			piece := t.add("")
			t.say(piece, inBrief, t.Groups[group].Text)
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
			t.say(piece, part, "- "+c.Name+": "+text+among(values, text))
		}
	}
	switch {
	case t.whole:
		say(asked, c.Said)
	case isAsked || c.Keep:
		say(asked, c.Line)
		if isAsked && t.first[c.Name] == t.place {
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
	var others []string
	for _, v := range values {
		if !strings.Contains(text, v) && len(others) < most {
			others = append(others, v)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "; among them " + strings.Join(others, ", ")
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
	place := places(about, rank)
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
			parts[0], size = p.Format, t.Call+"; "+size // which has all of the headline
		} else if place := t.Reads["place"]; !t.Usual && len(p.Tables) == 1 && place != "" &&
			place != firstLine {
			size += "; " + place
		}
		parts = append(parts, strings.TrimPrefix(t.Name+": ", ": ")+size+": "+
			joined(t.Names, max(chars/2, chars-len(p.Headline)-len(size)-10)))
	}
	if len(p.Tables) == 0 {
		said := strings.Join(append(slices.Clone(p.Warnings), p.Problem, head(p.Document, chars)), " ")
		parts = append(parts, strings.Join(strings.Fields(said), " "))
	}
	return shortened(strings.TrimRight(strings.Join(parts, "; "), "; "), chars)
}

// Words are the names in the file, the words among its values, those of its years that a question
// names, and what is said around its tables: what the file is about.
func (p Profile) Words(question string) string {
	const most = 60 // values of a column
	words := []string{head(p.Document, 2000)}
	for _, t := range p.Tables {
		words = append(append(append(words, t.Name), t.Head...), t.Raw[:min(len(t.Raw), 2)]...)
		for _, c := range t.Columns {
			among := c.Among[:min(len(c.Among), most)]
			if c.Type == "number" {
				among = c.named(question)
			}
			words = append(append(words, c.Name), among...)
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

package profile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
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
	inBrief
	inLines
	parts
)

const (
	mostAsked   = 12 // columns of a table that are told of in full
	mostColumns = 40 // of a table that are told of, were it not for the question
	mostTables  = 60 // of a file that have a line of their own
	namesChars  = 1500
	aroundChars = 1500 // of the words beside tables
)

// A draft is a text of pieces that grow while there is room, the most urgent first.
type draft struct {
	pieces []string // as they stand
	grow   []growth
	spare  map[int]int // pieces that are not needed if those from the next to another are told
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
	for piece, last := range d.spare {
		if !slices.Contains(d.pieces[piece+1:last+1], "") {
			d.pieces[piece] = ""
		}
	}
}

func (d *draft) String() string {
	return strings.TrimRight(strings.Join(filled(d.pieces), "\n"), "\n")
}

// Text is what a request shows of the profile in at most about chars bytes: of a table the names of
// its columns and what is nearest to the question first, and then the other columns near it; of a
// long document the sections near the question.
func (p Profile) Text(chars int, question string) string {
	d := draft{pieces: []string{cmp.Or(p.Headline, p.Format), p.Notes}, spare: map[int]int{}}
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
		d.add("\nother tables: " + joined(others, ", ", chars/4))
	}
	d.fill(chars)
	if p.Document != "" {
		p.document(&d, chars, question)
	}
	return brief.Clip(d.String(), chars)
}

// table adds a table, whose place is its nearness to the question among all tables.
func (d *draft) table(t Table, place, chars int, question string) {
	later := func(piece, part int, text string) {
		urge := (place+1)*parts*mostTables + part
		if part <= asked {
			urge = part*mostTables + place
		}
		d.later(piece, urge, text)
	}
	d.add(t.Headline)
	whole := t.Every != "" && len(t.Every)+len(t.Around) < chars*2/3
	names := "columns: " + joined(t.Names, ", ", min(namesChars, chars/3))
	if t.LeftOut > 0 {
		names += fmt.Sprintf(" and %d more", t.LeftOut)
	}
	later(d.add(""), misleads, t.Misleads)
	later(d.add(""), around, t.Around)
	later(d.add(""), holds, t.Holds)
	spare := d.add("")
	later(spare, named, names)
	texts := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		texts[n] = strings.Join(append([]string{c.Name, c.Name, c.Line}, c.Among...), " ")
	}
	nearness, near := places(question, texts)
	for n, c := range t.Columns {
		if c.Group != "" { // with those after it
			later(d.add(""), inBrief, c.Group)
		}
		told := c.told(whole, nearness[n] < min(near, mostAsked), nearness[n] < mostColumns)
		if len(told) == 0 && c.Grouped {
			continue
		}
		piece := d.add("")
		for part, text := range told {
			if text != "" {
				later(piece, part, "- "+c.Name+": "+text+c.among(text, question))
			}
		}
	}
	if whole {
		later(d.add(""), inFull, t.Every)
		return
	}
	if t.LeftOut == 0 {
		d.spare[spare] = len(d.pieces) - 1
	}
	later(d.add(""), rows, t.Row)
}

// among tells which values that the question may name a text does not tell, if these are few.
func (c Column) among(text, question string) string {
	const most = 6
	near := mentioned(question, c.Among)
	if c.Type == "number" || len(near) > most { // whose range tells
		return ""
	}
	values := "; among them"
	for _, v := range near {
		if !strings.Contains(text, v) {
			values += " " + v + ","
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(values, "; among them"), ",")
}

// usual are words by which a question names no value.
const usual = `a an and are as at be by each every for from had has have how if in is it its many more most no
	not of on one only or than that the there this to was were what when where which who with der die das und`

// mentioned are the values that a question names: by all their words, by two, or by one that no other
// value has.
func mentioned(question string, values []string) (found []string) {
	in, asked := counted(strings.Join(values, "\n")), counted(question)
	for w := range counted(usual) {
		delete(in, w)
		delete(asked, w)
	}
	for _, v := range values {
		var all, shared, own int
		for w := range counted(v) {
			if all += min(int(in[w]), 1); asked[w] > 0 {
				shared++
				own += 2 - min(int(in[w]), 2)
			}
		}
		if shared > 0 && (shared > 1 || shared == all || own > 0) {
			found = append(found, v)
		}
	}
	return found
}

// told is what is told of a column, by its urgency. It may be told of in a group, and be near the
// question or asked about.
func (c Column) told(whole, isAsked, near bool) map[int]string {
	switch {
	case whole:
		return map[int]string{asked: c.Said}
	case isAsked:
		return map[int]string{asked: c.Line, inFull: c.Full}
	case c.Keep:
		return map[int]string{asked: c.Line}
	case !c.Grouped && near:
		return map[int]string{inBrief: cmp.Or(c.Brief, c.Line), inLines: c.Line}
	}
	return nil
}

// document adds a document to a text: whole, or what is needed of it.
func (p Profile) document(d *draft, chars int, question string) {
	const least = 300
	room, what := chars-len(d.String())-30, "text"
	if len(p.Tables) > 0 {
		room = min(room, aroundChars)
	}
	if room < min(least, len(p.Document)) {
		return
	}
	text := p.excerpt(room, question)
	if len(text) != len(p.Document) {
		what = "parts of the text"
	} else if p.Cut {
		what = "the beginning of the text"
	}
	d.add(what + ":\n" + text)
}

// Short reports whether all of a document is shown for a question, if there is room.
func (p Profile) Short(question string) bool { return question == "" || len(p.Document) <= 4000 }

// excerpt is the document in at most about n bytes: of a long one the beginning, the section nearest to
// the question, lists of words and what they mean, and others near the question while these take no
// more than a part of it; and of what is cut the first lines. Of a code book lists are near, too.
func (p Profile) excerpt(n int, question string) string {
	const part, least = 8, 2500 // bytes of others near the question
	if p.Short(question) && len(p.Document) <= n || len(p.Sections) < 4 {
		return brief.Clip(p.Document, n)
	}
	title := 60 // letters of a first line, unless there are too many
	if len(p.Sections)*title > n/2 {
		title = 0
	}
	var d draft
	var sections, firsts, about []string
	for i, end := range append(slices.Clone(p.Sections[1:]), len(p.Document)) {
		section := strings.TrimRight(p.Document[p.Sections[i]:end], "\n")
		first, _, _ := strings.Cut(section, "\n")
		sections, about = append(sections, section), append(about, first+"\n"+first+"\n"+section)
		firsts = append(firsts, fmt.Sprintf("%.*s", title, strings.Trim(first, " #*")))
		d.add(mark(section, firsts[i]))
	}
	place, near := places(question, about)
	room := len(d.String()) + max(least, len(p.Document)/part)
	for i, s := range sections {
		list := p.Lists[i] && (place[i] < near || !p.Codebook)
		if i == 0 || place[i] == 0 || list || p.Short(question) {
			d.later(i, place[i], s)
			room += len(s)
		} else if place[i] < near {
			d.later(i, len(sections)+place[i], s)
		}
	}
	d.fill(min(n, room))
	if slices.Equal(d.pieces, sections) {
		return brief.Clip(p.Document, n)
	}
	var told []string
	from := 0 // where a run of sections that are cut begins
	for i, s := range sections {
		if d.pieces[i] == s {
			told, from = append(told, s), i+1
		} else if last := i+1 == len(sections); last || d.pieces[i+1] == sections[i+1] {
			cut := strings.Join(sections[from:i+1], "\n")
			told = append(told, mark(cut, strings.Join(filled(firsts[from:i+1]), "; ")))
		}
	}
	return strings.Join(told, "\n")
}

// mark stands for a text that is cut, unless that is shorter, and names what is in it.
func mark(text, names string) string {
	mark := fmt.Sprintf("[… %d characters cut here%s …]", len(text), strings.TrimSuffix(": "+names, ": "))
	if len(mark) > len(text) {
		return text
	}
	return mark
}

// Beyond is what a request shows of a file of the structure of first, which is described: whatever
// changes how it is read, and then what else differs, in at most about chars bytes. It is "" if only its rows
// are others.
func (p Profile) Beyond(first Profile, chars int) string {
	reads, holds := differ(p.Reads, first.Reads), differ(p.Holds, first.Holds)
	if len(reads)+len(holds) == 0 {
		return ""
	}
	return joined(filled(slices.Concat(reads, []string{p.Count}, holds)), "; ", chars)
}

// differ tells what the first of two has otherwise; under a key with a ~, what only it has.
func differ(has, lead map[string]string) (parts []string) {
	for _, key := range slices.Sorted(maps.Keys(has)) {
		once := strings.HasPrefix(key, "~") && lead[key] != ""
		if text := has[key]; text != lead[key] && text != "" && !once {
			parts = append(parts, text)
		}
	}
	return parts
}

func filled(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
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

// Near orders texts by the cosine of their weighted words and the question's, the nearest first,
// and says how many come to more than a share of the nearest one's. It keeps no words of the texts:
// there may be 100,000.
func Near(question string, texts []string, share float64) (order []int, near int) {
	inTexts := map[string]float64{}
	for _, text := range texts {
		for w := range counted(text) {
			inTexts[w]++
		}
	}
	weight := func(w string) float64 { return math.Log(1 + float64(len(texts))/(1+inTexts[w])) }
	asked, scores := counted(question), make([]float64, len(texts))
	for i, text := range texts {
		var dot, norm float64
		counts := counted(text)
		for _, w := range slices.Sorted(maps.Keys(counts)) { // a sum depends on the order
			v := (1 + math.Log(counts[w])) * weight(w)
			norm += v * v
			if asked[w] > 0 {
				dot += v * weight(w)
			}
		}
		if order = append(order, i); norm > 0 {
			scores[i] = dot / math.Sqrt(norm)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for near < len(order) && scores[order[near]] > share*scores[order[0]] {
		near++
	}
	return order, near
}

// places are the places of texts in the order of their nearness to the question, and how many are
// near it.
func places(question string, texts []string) (place []int, near int) {
	order, near := Near(question, texts, nearly)
	place = make([]int, len(texts))
	for n, i := range order {
		place[i] = n
	}
	return place, near
}

// nearly is the share of what the nearest has in common with the question that others which are
// near it have at least.
const nearly = 0.3

func counted(text string) map[string]float64 {
	counts := map[string]float64{}
	for w := range strings.FieldsSeq(fold(text)) {
		counts[w]++
	}
	return counts
}

// humps are the places within a name such as grossRate where a word begins.
var humps = lazy.Regexp(`(\p{Ll})(\p{Lu})`)

// fold writes a text in words without what the forms of a word differ in, roughly: case, a final s,
// and what follows the sixth letter. One with a digit is a number or a code: only its case goes.
func fold(text string) string {
	words := strings.FieldsFunc(humps().ReplaceAllString(text, "$1 $2"), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
	for n, w := range words {
		if words[n] = strings.ToLower(w); strings.ContainsAny(w, "0123456789") {
			continue
		}
		letters := []rune(strings.TrimSuffix(words[n], "s"))
		if last := len(letters) - 1; last > 2 && letters[last] == 'y' {
			letters[last] = 'i' // country, countries
		}
		words[n] = string(letters[:min(len(letters), 6)])
	}
	return strings.Join(words, " ")
}

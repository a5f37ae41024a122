package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dsstar/agent/brief"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
)

// A Ranker returns the indexes of texts, those with most in common with the question first.
type Ranker func(question string, texts []string) []int

// A detail is how much is shown of a profile.
type detail struct {
	columns int // a table with more is shown with so many, and the names of the others
	tables  int // as many are shown with their columns, the others by name
	rows    int
	brief   bool // ranges and names only
	bare    bool // of what is around a table only the notes
}

// details are tried until a text is short enough.
var details = []detail{
	{columns: 40, tables: 25, rows: 1}, {columns: 20, tables: 15, rows: 1},
	{columns: 12, tables: 8, rows: 1}, {columns: 12, tables: 8, rows: 1, brief: true},
	{columns: 5, tables: 4, rows: 1, brief: true}, {tables: 1, rows: 1, brief: true, bare: true},
}

// Text is what a request shows of the profile in at most about chars bytes: a table of up to 40
// columns whole, of a wider one the columns that the question names and those near it, the others
// by name; of a long document the parts near the question.
func (p Profile) Text(question string, chars int, rank Ranker) string {
	text := ""
	for _, d := range details {
		if text = p.text(question, rank, d, chars); len(text) <= chars {
			return text
		}
	}
	return brief.Lines(text, chars)
}

// Words are the names in the file and what is said around its tables, without the values: what the
// file is about.
func (p Profile) Words() string {
	words := []string{head(p.Document, 2000)}
	for _, t := range p.Tables {
		words = append(append(append(words, t.Name), t.Head...), t.Raw[:min(len(t.Raw), 2)]...)
		for _, c := range t.Columns {
			words = append(words, c.Name)
		}
	}
	return strings.Join(words, "\n")
}

func (p Profile) text(question string, rank Ranker, d detail, chars int) string {
	var b strings.Builder
	b.WriteString(p.headline() + "\n")
	for _, line := range p.Lines {
		b.WriteString(line + "\n")
	}
	for _, note := range append(slices.Clone(p.Warnings), p.Problem) {
		if note != "" {
			b.WriteString("Note: " + note + "\n")
		}
	}
	tables := make([]string, len(p.Tables))
	for n, t := range p.Tables {
		tables[n] = t.Name + " " + t.names()
	}
	shown := nearest(question, tables, d.tables, rank)
	var others []string // of a database with many tables
	for n, t := range p.Tables {
		if !shown[n] && len(p.Tables) > mostTables {
			others = append(others, fmt.Sprintf("%s (%d)", t.Name, t.Rows))
			continue
		}
		if len(p.Tables) > 1 {
			fmt.Fprintf(&b, "\n%s: ", cmp.Or(t.Name, fmt.Sprintf("table %d", n+1)))
		} else if t.Name != "" && t.Name != "$" {
			b.WriteString(t.Name + ": ")
		}
		b.WriteString(t.headline() + "\n")
		if shown[n] || explains().MatchString(t.Name) {
			t.write(&b, question, rank, d)
		} else {
			t.writeNames(&b, question, d)
		}
	}
	if len(others) > 0 {
		b.WriteString("\nother tables, with their rows: " + cut(strings.Join(others, ", "), chars/4) + "\n")
	}
	if p.Document != "" {
		p.writeDocument(&b, question, chars, rank)
	}
	return strings.TrimRight(b.String(), "\n")
}

// mostTables is how many tables are told of with their columns at most, however little of each.
const mostTables = 60

// explains matches the names of sheets that say what the others hold.
var explains = lazy.Regexp(`(?i)\b(?:read ?me|notes?|legend|dictionary|codebook|about)\b`)

func (p Profile) writeDocument(b *strings.Builder, question string, chars int, rank Ranker) {
	const around = 1500 // of the words beside tables
	room := max(500, chars-b.Len()-100)
	if len(p.Tables) > 0 {
		room = min(room, around)
	}
	text, what := excerpt(p.Document, question, room, rank), "text"
	switch {
	case p.Cut && len(text) == len(p.Document):
		what = "the beginning of the text"
	case len(text) != len(p.Document):
		what = "parts of the text"
	}
	b.WriteString(what + ":\n" + text + "\n")
}

// excerpt is the beginning of a text and the parts of it near the question, in at most n bytes.
func excerpt(text, question string, n int, rank Ranker) string {
	parts := strings.Split(text, "\n\n")
	if len(text) <= n || rank == nil || len(parts) < 8 {
		return brief.Lines(text, n)
	}
	const mark = "[…]"
	shown := map[int]bool{}
	for _, p := range append([]int{0, 1, 2}, rank(question, parts)...) {
		if size := len(parts[p]) + 2*len(mark); !shown[p] && size < n {
			shown[p] = true
			n -= size
		}
	}
	var b strings.Builder
	for p, part := range parts {
		switch {
		case shown[p]:
			b.WriteString(part + "\n\n")
		case p > 0 && shown[p-1]:
			b.WriteString(mark + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// cut is the beginning of a text, with a mark where it does not end there.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.TrimRight(head(text, n), " ") + " …"
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

// headline is what the file is.
func (p Profile) headline() string {
	parts := []string{cmp.Or(p.Format, "unknown")}
	if p.Encoding != "" && p.Encoding != "utf-8" {
		parts = append(parts, fmt.Sprintf("encoding %s (pandas: encoding=%[1]q)", p.Encoding))
	}
	switch p.Delimiter {
	case "", ",":
	case "tab":
		parts = append(parts, "fields between tabs")
	case "spaces":
		parts = append(parts, `fields between spaces (pandas: sep=r"\s+")`)
	default:
		parts = append(parts, fmt.Sprintf("fields between %q", p.Delimiter))
	}
	if n := len(p.Tables); n > 1 {
		parts = append(parts, human.Plural(n, "table"))
	}
	return strings.Join(parts, ", ")
}

// asExpected matches the place of a table that begins a sheet, which goes without saying.
var asExpected = lazy.Regexp(`^rows 1-\d+, columns A-[A-Z]+, header in row 1$`)

// headline is the size of a table, where it is and what holds of it as a whole.
func (t Table) headline() string {
	rows := strconv.Itoa(t.Rows) + " rows"
	if t.Guessed {
		rows = "about " + rows
	}
	if t.Rows == 1 {
		rows = "1 row"
	}
	parts := []string{fmt.Sprintf("%s, %s", rows, human.Plural(len(t.Columns)+t.LeftOut, "column"))}
	if t.Where != "" && !asExpected().MatchString(t.Where) {
		parts = append(parts, t.Where)
	}
	if t.Sample > 0 {
		parts = append(parts, fmt.Sprintf("figures from a sample of %d rows except where they are "+
			"said to be of all", t.Sample))
	}
	if len(t.Keys) > 0 && !t.whole() {
		var keys []string
		for _, k := range t.Keys {
			keys = append(keys, strings.Join(k, " + "))
		}
		parts = append(parts, "unique: "+strings.Join(keys, "; "))
	}
	switch t.Duplicates {
	case 0:
	case 1:
		parts = append(parts, "1 row repeats another")
	default:
		parts = append(parts, fmt.Sprintf("%d rows repeat another", t.Duplicates))
	}
	return strings.Join(parts, "; ")
}

// whole reports whether First is all of the table.
func (t Table) whole() bool { return len(t.First) == t.Rows && t.Rows > 0 && t.Sample == 0 }

// names are the columns of a table with their types, which are said once for several in a row.
func (t Table) names() string {
	var parts []string
	for n := 0; n < len(t.Columns); {
		last := n
		for last+1 < len(t.Columns) && t.Columns[last+1].kind() == t.Columns[n].kind() {
			last++
		}
		parts = append(parts, inARow(t.Columns[n:last+1])+" ("+t.Columns[n].kind()+")")
		n = last + 1
	}
	text := strings.Join(parts, ", ")
	if t.LeftOut > 0 {
		text += fmt.Sprintf(" and %d more", t.LeftOut)
	}
	return text
}

// inARow names columns, of those that are numbered the first and the last.
func inARow(columns []Column) string {
	var parts []string
	base := func(n int) string { return strings.TrimRight(columns[n].Name, "0123456789") }
	for n := 0; n < len(columns); n++ {
		last := n
		for last+1 < len(columns) && base(n) != columns[n].Name && base(last+1) == base(n) {
			last++
		}
		name := columns[n].Name
		if last > n+3 {
			name += " … " + columns[last].Name
			n = last
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

// writeNames names the columns of a table of which no more is shown than what the question names.
func (t Table) writeNames(b *strings.Builder, question string, d detail) {
	rest := Table{LeftOut: t.LeftOut}
	for _, note := range t.Warnings {
		b.WriteString("Note: " + cut(note, 200) + "\n")
	}
	for _, c := range t.Columns {
		if c.asked(question) {
			fmt.Fprintf(b, "- %s: %s\n", c.Name, c.line(t.Rows, d.brief))
		} else {
			rest.Columns = append(rest.Columns, c)
		}
	}
	b.WriteString("other columns: " + cut(rest.names(), namesChars) + "\n")
}

// writeAround writes what holds of a table as a whole; bare only what misleads who does not know it.
func (t Table) writeAround(b *strings.Builder, bare bool) {
	for _, note := range t.Warnings {
		b.WriteString("Note: " + note + "\n")
	}
	if bare {
		return
	}
	if len(t.Raw) > 0 {
		b.WriteString("first lines of the file:\n  " + strings.Join(t.Raw, "\n  ") + "\n")
	}
	if len(t.Head) > 0 {
		b.WriteString("above it: " + brief.Lines(strings.Join(t.Head, "\n  "), 600) + "\n")
	}
	if len(t.Foot) > 0 {
		b.WriteString("below it: " + brief.Lines(strings.Join(t.Foot, "\n  "), 600) + "\n")
	}
	for _, gap := range t.Gaps[:min(len(t.Gaps), 3)] {
		b.WriteString(cut(gap, 200) + "\n")
	}
	for _, f := range t.Follows {
		b.WriteString("in all rows read: " + f + "\n")
	}
}

func (t Table) write(b *strings.Builder, question string, rank Ranker, d detail) {
	t.writeAround(b, d.bare)
	whole := t.whole() && d.rows > 0 && t.fits(wholeChars)
	lines := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		if lines[n] = c.line(t.Rows, d.brief); whole {
			lines[n] = strings.Join(append([]string{c.kind()}, c.Notes...), "; ")
		}
	}
	texts := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		texts[n] = c.Name + " " + lines[n]
	}
	near := nearest(question, texts, d.columns, rank)
	var rest Table
	for n := 0; n < len(t.Columns); n++ {
		c := t.Columns[n]
		if !near[n] && !c.asked(question) {
			rest.Columns = append(rest.Columns, c)
			continue
		}
		last, line := n, ""
		if !whole {
			last, line = t.together(n, question, d.brief)
		}
		if last == n {
			fmt.Fprintf(b, "- %s: %s\n", c.Name, lines[n])
			continue
		}
		fmt.Fprintf(b, "- %s, each: %s\n", cut(inARow(t.Columns[n:last+1]), namesChars), line)
		n = last
	}
	if rest.LeftOut = t.LeftOut; len(rest.Columns) > 0 {
		b.WriteString("other columns: " + cut(rest.names(), namesChars) + "\n")
	}
	switch {
	case whole:
		b.WriteString("all rows:\n" + t.rows(len(t.First)))
	case d.rows > 0 && len(t.First) > 0 && (len(t.Raw) == 0 || d.bare):
		b.WriteString("first row:\n" + t.rows(d.rows))
	}
}

const (
	namesChars = 1500 // of the columns that are only named
	wholeChars = 1500 // of a table that is shown whole
	rowChars   = 300  // of the first row of another
)

// fits reports whether the rows that are kept take at most n bytes.
func (t Table) fits(n int) bool {
	for _, row := range t.First {
		n -= len(strings.Join(row, " | ")) + 3
	}
	return n >= 0
}

// rows are the first n rows.
func (t Table) rows(n int) string {
	var b strings.Builder
	for _, row := range t.First[:min(n, len(t.First))] {
		text := strings.Join(row, " | ")
		if !t.whole() {
			text = cut(text, rowChars)
		}
		b.WriteString("  " + text + "\n")
	}
	return b.String()
}

// quoted is an example in a note.
var quoted = lazy.Regexp(`"[^"]*"`)

// together returns the last of the columns from n on of which the same is said but for the range of
// their numbers, and what is said of all of them. Fewer than five are said one by one, and so are
// those that the question names.
func (t Table) together(n int, question string, short bool) (last int, line string) {
	all := t.Columns[n]
	plainNumber := func(c Column) bool {
		return c.Type == "number" && len(c.Values) != 1 && len(c.Without) == 0 && !c.asked(question)
	}
	if !plainNumber(all) {
		return n, ""
	}
	plain := func(c Column) string {
		c.Range, c.Unique, c.Distinct, c.Values = all.Range, false, 0, nil
		return quoted().ReplaceAllString(c.line(t.Rows, short), "")
	}
	last = n
	for last+1 < len(t.Columns) {
		c := t.Columns[last+1]
		if !plainNumber(c) || plain(c) != plain(all) {
			break
		}
		last++
	}
	if last < n+4 {
		return n, ""
	}
	low, _ := all.Range[0].(float64)
	high, _ := all.Range[1].(float64)
	for _, c := range t.Columns[n : last+1] {
		if from, ok := c.Range[0].(float64); ok {
			low = min(low, from)
		}
		if to, ok := c.Range[1].(float64); ok {
			high = max(high, to)
		}
	}
	all.Range, all.Unique, all.Distinct, all.Values = [2]any{low, high}, false, 0, nil
	return last, all.line(t.Rows, short)
}

// nearest returns the indexes of the texts that are shown.
func nearest(question string, texts []string, most int, rank Ranker) map[int]bool {
	shown := map[int]bool{}
	if len(texts) <= most || rank == nil {
		for n := range min(len(texts), most) {
			shown[n] = true
		}
		return shown
	}
	for _, n := range rank(question, texts)[:most] {
		shown[n] = true
	}
	return shown
}

// kind is the type of a column in a word.
func (c Column) kind() string {
	switch {
	case c.Type == "number" && c.Integer:
		return "integer"
	case c.Type == "empty":
		return "no values"
	}
	return c.Type
}

// line is what is said of a column after its name.
func (c Column) line(rows int, short bool) string {
	parts := []string{c.kind()}
	all := ""
	if c.Whole {
		all = " (of all rows)"
	}
	switch c.Type {
	case "number", "date":
		if len(c.Values) != 1 {
			parts[0] += fmt.Sprintf(" %s to %s", figure(c.Range[0]), figure(c.Range[1])) + all
		}
		if len(c.Without) == 2 {
			parts = append(parts, fmt.Sprintf("otherwise %s to %s", figure(c.Without[0]),
				figure(c.Without[1])))
		}
		if c.Form != "" && !short && !strings.HasPrefix(c.Form, "%Y-%m-%d") {
			parts = append(parts, "form "+c.Form)
		}
	case "list":
		parts[0] += fmt.Sprintf(" of %d to %d values", c.Lengths[0], c.Lengths[1])
		if c.Empty > 0 {
			parts = append(parts, fmt.Sprintf("%d empty lists", c.Empty))
		}
	}
	parts = append(parts, c.values(short)...)
	if c.Whole {
		if c.Gone > 0 {
			parts = append(parts, fmt.Sprintf("missing in %d of all rows", c.Gone))
		}
	} else if missing := c.missing(rows); missing != "" {
		parts = append(parts, missing)
	}
	return strings.Join(slices.Concat(parts, c.notes()), "; ")
}

func (c Column) notes() []string {
	if c.FormNote == "" {
		return c.Notes
	}
	return append(slices.Clone(c.Notes), c.FormNote)
}

func (c Column) values(short bool) (parts []string) {
	about := ""
	if c.Whole {
		about = "about "
	}
	switch {
	case len(c.Values) == 1:
		return []string{"always " + c.Values[0].Text}
	case c.Unique && c.Type == "number":
		return nil
	case c.Unique:
		parts = append(parts, "all different"+map[bool]string{true: " in the sample"}[c.Whole])
	case len(c.Values) > 0:
		return []string{fmt.Sprintf("%d values: %s", len(c.Values), counted(c.Values))}
	case c.Type == "number":
		return nil
	case c.Distinct > 0:
		parts = append(parts, fmt.Sprintf("%s%d values", about, c.Distinct))
	}
	if len(c.Frequent) > 0 {
		parts = append(parts, "most frequent "+counted(c.Frequent[:min(len(c.Frequent), 3)]))
	} else if len(c.Examples) > 0 && !short {
		parts = append(parts, "such as "+strings.Join(c.Examples, ", "))
	}
	return parts
}

// missing tells how many values are missing, and what stands for them.
func (c Column) missing(rows int) string {
	var parts []string
	total := 0
	for _, marker := range slices.Sorted(maps.Keys(c.Missing)) {
		n := c.Missing[marker]
		total += n
		if marker == "null" || marker == "" {
			parts = append(parts, fmt.Sprintf("%d %s", n, cmp.Or(marker, "missing")))
		} else {
			parts = append(parts, fmt.Sprintf("%d missing written %q", n, marker))
		}
	}
	if total == rows {
		return ""
	}
	return strings.Join(parts, ", ")
}

func counted(values []Value) string {
	var parts []string
	more := func(v Value) bool { return v.Count != 1 }
	once := len(values) > 12 || !slices.ContainsFunc(values, more)
	for _, v := range values {
		text := v.Text
		if strings.ContainsAny(text, ",()") || text != strings.TrimSpace(text) {
			text = strconv.Quote(text)
		}
		if !once {
			text += fmt.Sprintf(" (%d)", v.Count)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// figure is a number or a date as it is shown.
func figure(v any) string {
	if f, ok := v.(float64); ok {
		if f == float64(int64(f)) {
			return strconv.FormatInt(int64(f), 10)
		}
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	return fmt.Sprint(v)
}

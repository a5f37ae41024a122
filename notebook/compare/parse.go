package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"dsstar/notebook/lazy"
)

var (
	atLabel = lazy.Regexp(`@(\w+)\[([^\]]*)\][,;\s]*`)
	tight   = lazy.Regexp(`(\pL):(\S)`)
	typed   = lazy.Regexp(`\b(?:(?:np|numpy)\.\w+|Timestamp|Decimal)\(([^()]*)\)`)
	printed = lazy.Regexp(`(?s)^(?:\w*Index|array|dict_\w+|Counter|\w*dict|deque|(?:frozen)?set)` +
		`\(([\[{(].*?[\]})])(?:, \w+=[^()]*)*\)$`)
	thinGroup = lazy.Regexp(`\b[\x{2009}\x{202f}\x{a0}](\d{3})\b`)
	plain     = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "", "\u2212", "-", "’", "'",
		"‘", "'", "“", `"`, "”", `"`)
	raised = lazy.Regexp(`[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+`)
)

// cleaned returns a text in one spelling of its characters and labels, without the types of
// Python's values.
func cleaned(text string) string {
	text = raised().ReplaceAllString(thinGroup().ReplaceAllString(text, "'$1"), "^$0")
	text = plain.Replace(norm.NFKC.String(text))
	text = printed().ReplaceAllString(strings.TrimSpace(text), "$1")
	text = tight().ReplaceAllString(typed().ReplaceAllString(text, "$1"), "$1: $2")
	return strings.TrimSpace(atLabel().ReplaceAllString(text, "$1: $2\n"))
}

// parseFile parses the text of a file: of CSV and TSV, a single column is a table, too.
func parseFile(f File) node {
	if has(textTables, f.Name) {
		if t := tableOf(cleaned(f.Text), 1); t.kind != scalar {
			for i := range t.items {
				t.items[i].guessed = false
			}
			return t
		}
	}
	return parse(cleaned(f.Text))
}

// parse reads the structure of a text: JSON, a list of Python, a table, labels, a list, or a value.
func parse(text string) node {
	whole := node{atom: newAtom(text)}
	isValue := whole.atom.number != nil || whole.atom.date != "" || decimalComma().MatchString(text)
	if isValue && !strings.Contains(text, "\n") {
		return whole
	}
	for _, n := range []node{literal(text), tableOf(text, 2)} {
		if n.kind != scalar {
			return n
		}
	}
	for _, mark := range "\n;|\t," {
		if parts := split(strings.Trim(text, "[]{}"), mark); len(parts) > 1 {
			return listed(parts)
		}
	}
	if n := listed([]string{text}); n.kind == object {
		return n
	}
	return whole
}

var (
	quotes    = strings.NewReplacer("'", `"`)
	tuples    = strings.NewReplacer("'", `"`, "(", "[", ")", "]")
	constants = lazy.Regexp(`\b(?:True|False|None|nan|NaN|inf)\b`)
)

// literal parses JSON, lists of Python, and what only lacks the brackets of a list; another text is
// a scalar. So is a single value in parentheses, which may be below zero.
func literal(text string) (n node) {
	isNegative := strings.HasPrefix(text, "(") && !strings.Contains(text, ",")
	if text == "" || !strings.Contains(`"'[{(`, text[:1]) || isNegative {
		return n
	}
	for _, text := range []string{text, "[" + text + "]"} {
		for _, spelled := range []string{text, constants().ReplaceAllString(quotes.Replace(text), `"$0"`),
			constants().ReplaceAllString(tuples.Replace(text), `"$0"`)} {
			d := json.NewDecoder(strings.NewReader(spelled))
			d.UseNumber()
			var value any
			if n.kind == scalar && d.Decode(&value) == nil && !d.More() {
				n = tree(value)
			}
		}
	}
	return n
}

// tree returns the node of a value decoded from JSON.
func tree(value any) (n node) {
	switch value := value.(type) {
	case []any:
		n.kind = list
		for _, item := range value {
			n.items = append(n.items, tree(item))
		}
	case map[string]any:
		n.kind = object
		for _, name := range slices.Sorted(maps.Keys(value)) {
			n.names, n.items = append(n.names, newAtom(name).folded), append(n.items, tree(value[name]))
		}
	case nil:
		n.atom = newAtom("null")
	default:
		n.atom = newAtom(fmt.Sprint(value))
	}
	return n
}

var groupMark = lazy.Regexp(`(\d),(\d{3})\b`)

// split splits a text at a mark, but not at the commas of 1,234,567. It leaves out names of files,
// and what is empty at the ends or between lines.
func split(text string, mark rune) (parts []string) {
	if mark == ',' {
		grouped := text
		for range 2 { // matches do not overlap
			grouped = groupMark().ReplaceAllString(grouped, "$1\x01$2")
		}
		if strings.Contains(text, ", ") || !strings.Contains(grouped, ",") {
			text = grouped
		}
	}
	for part := range strings.SplitSeq(text, string(mark)) {
		isEmpty := strings.Trim(part, fileMark+`"' `) == ""
		if !isEmpty || mark != '\n' && !strings.Contains(part, fileMark) {
			parts = append(parts, strings.ReplaceAll(part, "\x01", ","))
		}
	}
	return trimmed(parts)
}

// trimmed leaves out what is empty at the ends.
func trimmed(parts []string) []string {
	isFull := func(part string) bool { return strings.TrimSpace(part) != "" }
	first := slices.IndexFunc(parts, isFull)
	if first < 0 {
		return nil
	}
	last := len(parts)
	for !isFull(parts[last-1]) {
		last--
	}
	return parts[first:last]
}

var plainLabel = lazy.Regexp(`^\s*(\pL[^:=]{0,60}?)\s*(?::\s|=)\s*(\S.*)$`)

// listed returns the parts of a list; an object, if each has a label of its own.
func listed(parts []string) node {
	n, o := node{kind: list}, node{kind: object, lined: true}
	for _, part := range parts {
		n.items = append(n.items, node{atom: newAtom(part)})
		m := plainLabel().FindStringSubmatch(part)
		if m != nil && !slices.Contains(o.names, newAtom(m[1]).folded) {
			o.names = append(o.names, newAtom(m[1]).folded)
			o.items = append(o.items, parse(strings.TrimSpace(m[2])))
		}
	}
	if len(o.items) == len(parts) {
		return o
	}
	return n
}

var (
	ruler     = lazy.Regexp(`(?m)^[|\s:-]*--[|\s:-]*$\n?`)
	outerBars = lazy.Regexp(`(?m)^[ \t]*\||\|[ \t]*$`)
)

// tableOf parses lines of equally many cells, at least so many: Markdown, CSV or TSV. Another text
// is a scalar.
func tableOf(text string, columns int) (n node) {
	first, _, _ := strings.Cut(text, "\n")
	mark := ','
	for _, m := range "\t;|" {
		if strings.Count(first, string(m)) > strings.Count(first, string(mark)) {
			mark = m
		}
	}
	if mark == '|' {
		text = outerBars().ReplaceAllString(ruler().ReplaceAllString(text, ""), "")
	}
	lines := csv.NewReader(strings.NewReader(text))
	lines.Comma, lines.LazyQuotes, lines.TrimLeadingSpace = mark, true, mark != '\t'
	rows, err := lines.ReadAll()
	if err != nil || len(rows) < 2 || len(rows[0]) < columns {
		return n
	}
	n.kind = list
	for _, cells := range rows {
		r := node{kind: row}
		for _, cell := range cells {
			r.items = append(r.items, node{atom: newAtom(cell)})
		}
		n.items = append(n.items, r)
	}
	if names := n.items[0].header(n.items[1]); names != nil {
		guessed := mark != '|'
		n.items = n.items[1:]
		n.visit(func(a atom) { guessed = guessed && a.number == nil && a.date == "" })
		for i := range n.items {
			n.items[i].kind, n.items[i].names, n.items[i].guessed = object, names, guessed
		}
	}
	return n
}

// header returns the names that a row gives to columns, or nil: each is a different text, or a year
// above something else.
func (n node) header(below node) (names []string) {
	for i, cell := range n.items {
		isName := cell.atom.number == nil || cell.atom.isYear() && !below.items[i].atom.isYear()
		if !isName || cell.atom.date != "" || slices.Contains(names, cell.atom.folded) {
			return nil
		}
		names = append(names, cell.atom.folded)
	}
	return names
}

var (
	itemMark   = lazy.Regexp(`\s*(?:[,;|\n]\s*(?:(?:and|und|et)\s|&)?|\s(?:and|und|et|&)\s)\s*`)
	lastMark   = lazy.Regexp(`(,[^,\n]*\S)\s(?:y|e)\s`) // "x y z" are not two
	anAnd      = lazy.Regexp(`\s(?:and|und|et|y|e)\s`)
	twoMarks   = lazy.Regexp(`,.*[;|]|;.*[,|]|\|.*[,;]|(?s)\s(?:and|und|et|&)\s.*?[,;|\n]`)
	labelMarks = strings.NewReplacer(": ", " ")
)

// flat reads a line, or lines of one item each, as a list at every comma and "and", without labels.
// A list in brackets, or with two kinds of marks, n, stays as it is.
func (n node) flat(text string) node {
	if strings.ContainsAny(text, "[({\t") || twoMarks().MatchString(text) ||
		strings.Contains(text, "\n") && strings.ContainsAny(text, ",;|") {
		return n
	}
	n = node{kind: list}
	if strings.Count(text, `"`) == 2 {
		text = strings.Trim(text, `"`)
	}
	text = lastMark().ReplaceAllString(labelMarks.Replace(text), "$1, ")
	for _, item := range trimmed(itemMark().Split(text, -1)) {
		if strings.TrimSpace(item) != fileMark {
			n.items = append(n.items, node{atom: newAtom(item)})
		}
	}
	return n
}

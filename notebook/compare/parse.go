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
	"dsstar/notebook/lists"
)

var (
	atLabel = lazy.Regexp(`@(\w+)\[([^\]]*)\][,;\s]*`)
	tight   = lazy.Regexp(`(\pL):(\S)`)
	typed   = lazy.Regexp(`\b(?:(?:np|numpy)\.\w+|Timestamp|Decimal)\(([^()]*)\)`)
	printed = lazy.Regexp(`(?s)^(?:\w*Index|array|dict_\w+|Counter|\w*dict|deque|(?:frozen)?set)` +
		`\(([\[{(].*?[\]})])(?:, \w+=[^()]*)*\)$`)
	plain = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "", "\u2212", "-", "’", "'",
		"‘", "'", "“", `"`, "”", `"`)
	raised = lazy.Regexp(`[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+`)
	// the last item of a list; "x y z" are not two
	lastItem = lazy.Regexp(`^([^;|\n({[]*[^;|\n({[,\s]),? (?:and|und|et|&) ([^,;|\n]+)$`)
	anAnd    = lazy.Regexp(`\s(?:and|und|et|y|e|&)\s`)
	// a number with words beside it
	beside = lazy.Regexp(`(?:^|[^\d,])\d{1,3}(?:,\d{3})+(?: \S|\))`)
	// perhaps a decimal comma
	aComma = lazy.Regexp(`^[-+$€£¥]{0,2}\d[\d.]*,\d+(?: ?` + unitForm + `)?$`)
)

// cleaned returns a text in one spelling of its characters and labels, without the types of
// Python's values.
func cleaned(text string) string {
	text = plain.Replace(norm.NFKC.String(raised().ReplaceAllString(text, "^$0")))
	text = printed().ReplaceAllString(strings.TrimSpace(text), "$1")
	text = tight().ReplaceAllString(typed().ReplaceAllString(text, "$1"), "$1: $2")
	return strings.TrimSpace(atLabel().ReplaceAllString(text, "$1: $2\n"))
}

// parseFile parses the text of a file: of CSV and TSV, a single column is a table, too.
func parseFile(f File) node {
	if has(textTables, f.Name) {
		if t, ok := tableOf(cleaned(f.Text), 1); ok {
			return t
		}
	}
	return parse(f.Text)
}

// parse reads the structure of a text: JSON, a list of Python, a table, labels, a list, or a value.
func parse(text string) node {
	text = cleaned(text)
	if !strings.Contains(text, "\n") {
		if a := newAtom(text); a.isValue() || aComma().MatchString(text) {
			return node{atom: a}
		}
	}
	text = beside().ReplaceAllStringFunc(text, func(number string) string {
		return strings.ReplaceAll(number, ",", "")
	})
	whole := text
	if n, ok := literal(text); ok {
		return n
	}
	if n, ok := tableOf(text, 2); ok {
		return n
	}
	text = strings.TrimRight(strings.Trim(text, "[]{}"), ",; ")
	text = lastItem().ReplaceAllString(text, "$1, $2")
	for _, mark := range []string{"\n", ";", "|", "\t", ", ", ","} {
		if strings.Contains(text, mark) {
			return listed(split(text, mark))
		}
	}
	if n := listed([]string{text}); n.kind == object {
		return n
	}
	return node{atom: newAtom(whole)}
}

// literal parses JSON and lists of Python. A single value in parentheses is none: it may be below
// zero.
func literal(text string) (n node, ok bool) {
	isNegative := strings.HasPrefix(text, "(") && !strings.Contains(text, ",")
	if text == "" || !strings.Contains(`[{(`, text[:1]) || isNegative {
		return n, false
	}
	for _, marks := range [][]string{{}, {"'", `"`}, {"'", `"`, "(", "[", ")", "]"}} {
		spelled := strings.NewReplacer(marks...).Replace(text)
		if len(marks) > 0 {
			spelled = constants().ReplaceAllString(spelled, `"$0"`)
		}
		d := json.NewDecoder(strings.NewReader(spelled))
		d.UseNumber()
		var value any
		if d.Decode(&value) == nil && !d.More() {
			return tree(value), true
		}
	}
	return n, false
}

var constants = lazy.Regexp(`\b(?:True|False|None|nan|NaN|inf)\b`)

// tree returns the node of a value decoded from JSON.
func tree(value any) (n node) {
	switch value := value.(type) {
	case []any:
		n.kind = list
		for _, item := range value {
			n.items = append(n.items, tree(item))
		}
	case map[string]any:
		items := map[string]node{}
		for name, item := range value {
			items[newAtom(name).folded] = tree(item)
		}
		return objectOf(items)
	case nil:
		n.atom = newAtom("null")
	default:
		n.atom = newAtom(fmt.Sprint(value))
	}
	return n
}

func objectOf(items map[string]node) node {
	n := node{kind: object, names: slices.Sorted(maps.Keys(items))}
	n.items = lists.Map(n.names, func(name string) node { return items[name] })
	return n
}

// split splits a text at a mark. It leaves out what is empty at the ends or between lines.
func split(text, mark string) (parts []string) {
	for part := range strings.SplitSeq(text, mark) {
		if part = strings.TrimSpace(part); part != "" || mark != "\n" && len(parts) > 0 {
			parts = append(parts, part)
		}
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

var plainLabel = lazy.Regexp(`^(\pL[^:=]{0,60}?)\s*(?::\s|=)\s*(\S.*)$`)

// listed returns the parts of a list; an object, if each has a label of its own.
func listed(parts []string) node {
	n, labelled := node{kind: list}, map[string]node{}
	for _, part := range parts {
		n.items = append(n.items, node{atom: newAtom(part)})
		if m := plainLabel().FindStringSubmatch(part); m != nil {
			labelled[newAtom(m[1]).folded] = parse(m[2])
		}
	}
	if len(labelled) == len(parts) && len(parts) > 0 {
		return objectOf(labelled)
	}
	return n
}

var (
	ruler     = lazy.Regexp(`(?m)^[|\s:-]*--[|\s:-]*$\n?`)
	outerBars = lazy.Regexp(`(?m)^[ \t]*\||\|[ \t]*$`)
)

// tableOf parses lines of equally many cells, at least so many: Markdown, CSV or TSV. Words above
// words alone are names of columns in Markdown and in files, of which a single column is enough.
func tableOf(text string, columns int) (n node, ok bool) {
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
	cells, err := lines.ReadAll()
	if err != nil || len(cells) < 2 || len(cells[0]) < columns {
		return n, false
	}
	n.kind = list
	isNamed := columns == 1 || mark == '|'
	for _, texts := range cells {
		r := node{kind: row}
		for _, text := range texts {
			r.items = append(r.items, node{atom: newAtom(text)})
			isNamed = isNamed || len(n.items) > 0 && r.items[len(r.items)-1].atom.isValue()
		}
		n.items = append(n.items, r)
	}
	names := n.items[0].header(n.items[1])
	if names == nil || !isNamed {
		return n, true
	}
	n.items = n.items[1:]
	for i, r := range n.items {
		items := map[string]node{}
		for j, name := range names {
			items[name] = r.items[j]
		}
		n.items[i] = objectOf(items)
	}
	return n, true
}

// header returns the names that a row gives to columns, or nil: each is a different text, or a year
// above something else.
func (n node) header(below node) (names []string) {
	for i, cell := range n.items {
		isName := !cell.atom.isValue() || cell.atom.isYear() && !below.items[i].atom.isYear()
		if !isName || slices.Contains(names, cell.atom.folded) {
			return nil
		}
		names = append(names, cell.atom.folded)
	}
	return names
}

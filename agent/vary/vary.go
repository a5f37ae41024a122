// Package vary takes the cells of one question over to another question of the same form: one that
// has other values in some places and else the same words. Values are strings and numbers of the
// cells that stand in the question. Nothing here knows what they mean, so that whoever uses the
// cells has them judged.
package vary

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsstar/notebook/lazy"
)

// A Swap is a value of a question in place of which another question has another.
type Swap struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// token matches a comment, a string with its prefix, a name, or a number.
var token = lazy.Regexp(`(?s)#[^\n]*|([fFrRbBuUtT]{0,2})("""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|` +
	`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|([\p{L}_][\p{L}\p{N}_]*)|(\d[\d_]*(?:\.\d+)?)`)

// quoted matches a value inside of a string, such as one of SQL.
var quoted = lazy.Regexp(`'([^'"]*)'|"([^'"]*)"`)

// field matches the code in the braces of an f-string.
var field = lazy.Regexp(`\{[^{}]*\}?`)

const (
	maxValue = 100 // bytes
	maxSwaps = 4
)

// Between returns the values by which a question differs from one that cells have answered, and whether
// it is of the same form. Values that the cells use as the name of a column are none.
func Between(question string, cells []string, asked string) (swaps []Swap, ok bool) {
	question, asked = plain(question), plain(asked)
	form, values := template(question, valuesOf(strings.Join(cells, "\n")))
	found := form.FindStringSubmatch(asked)
	if found == nil {
		return nil, false
	}
	for i, from := range values {
		to := strings.TrimSpace(found[i+1])
		known := slices.IndexFunc(swaps, func(s Swap) bool { return s.From == from })
		switch {
		case known >= 0 && swaps[known].To != to || !likeValue(from, to):
			return nil, false
		case known < 0:
			swaps = append(swaps, Swap{from, to})
		}
	}
	swaps = slices.DeleteFunc(swaps, func(s Swap) bool { return s.From == s.To })
	return swaps, len(swaps) > 0 && len(swaps) <= maxSwaps
}

// plain returns a question without what makes no difference at its end.
func plain(question string) string {
	return strings.TrimRight(strings.Join(strings.Fields(question), " "), " .?!")
}

// isNumber reports whether a value is a number.
func isNumber(value string) bool {
	_, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", ""), 64)
	return err == nil
}

// isShort reports whether a value is a number of one or two digits.
func isShort(value string) bool { return isNumber(value) && len(value) < 3 }

// likeValue reports whether a value may stand for another: a number for a number, and of other text
// nothing that reads like more than one value.
func likeValue(from, to string) bool {
	if isNumber(from) {
		return isNumber(to)
	}
	if to == "" || len(to) > maxValue || strings.ContainsAny(to, "?!\\\"\n{}") {
		return false
	}
	for _, joint := range []string{",", ";", " and ", " or ", " than ", " except ", " not "} {
		if strings.Contains(" "+to+" ", joint) && !strings.Contains(" "+from+" ", joint) {
			return false
		}
	}
	return true
}

// valuesOf returns the strings and numbers of some code that may be values, the longest first. A string
// is one where it is compared, looked for or assigned, but not if it is a name in brackets, as of a
// column. A number of one or two digits is one if it stands once in the code, and in no string: it often
// means something else.
func valuesOf(code string) []string {
	numbers, texts, columns := map[string]int{}, map[string]bool{}, map[string]bool{}
	var strung strings.Builder // all strings
	for _, m := range token().FindAllStringSubmatchIndex(code, -1) {
		switch {
		case m[8] >= 0:
			numbers[code[m[8]:m[9]]]++
		case m[4] >= 0:
			text := inside(code[m[4]:m[5]])
			strung.WriteString(" " + text + " ")
			texts[text] = texts[text] || isValue(code[:m[0]], code[m[1]:])
			columns[text] = columns[text] || isIndex(code[:m[0]], code[m[1]:])
			for _, q := range quoted().FindAllStringSubmatchIndex(text, -1) {
				within := text[q[0]+1 : q[1]-1]
				texts[within] = texts[within] || isValue("; "+text[:q[0]], text[q[1]:])
			}
		}
	}
	var all []string
	for text, value := range texts {
		if value && strings.TrimSpace(text) != "" && len(text) <= maxValue && !columns[text] && numbers[text] == 0 {
			all = append(all, text)
		}
	}
	for n, times := range numbers {
		if !isShort(n) || times == 1 && !isWord(n, strung.String()) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return all
}

// inside returns the text of a string literal.
func inside(literal string) string {
	for _, quote := range []string{`"""`, `'''`, `"`, `'`} {
		if text, ok := strings.CutPrefix(literal, quote); ok {
			return strings.TrimSuffix(text, quote)
		}
	}
	return literal
}

var (
	listItem  = lazy.Regexp(`(?:"[^"\n]*"|'[^'\n]*'|[\p{L}\p{N}_.]+)\s*,\s*$`)
	looksFor  = lazy.Regexp(`(?i)(?:==|!=|<>|\bin|\blike|\bisin|\.eq|\.ne|\.get|\.contains|\.startswith|\.endswith|\.match)$`)
	assigns   = lazy.Regexp(`(?:^|[\n;])\s*[\p{L}_][\p{L}\p{N}_., ]*(?:\s*:\s*[\p{L}_]+)?\s*=$`)
	sqlEquals = lazy.Regexp(`^; .*=$`)
	lookedFor = lazy.Regexp(`^\s*(?:==|!=|in\b|not in\b)`)
)

// isValue reports whether a string between two pieces of code is compared, looked for or assigned.
func isValue(before, after string) bool {
	for item := listItem().FindStringIndex(before); item != nil; item = listItem().FindStringIndex(before) {
		before = before[:item[0]]
	}
	before = strings.TrimRight(before, " \n([{")
	return looksFor().MatchString(before) || assigns().MatchString(before) || sqlEquals().MatchString(before) ||
		lookedFor().MatchString(after)
}

// isIndex reports whether a string stands alone in brackets, as the name of a column does.
func isIndex(before, after string) bool {
	before, after = strings.TrimRight(before, " \n"), strings.TrimLeft(after, " \n")
	return indexed().MatchString(before) && strings.HasPrefix(after, "]")
}

var indexed = lazy.Regexp(`[\p{L}\p{N}_\])]\s*\[$`)

// word matches a value that stands in a text as a whole word or number.
func word(value string) *regexp.Regexp {
	before, after := `(^|[^\p{L}\p{N}_])`, `($|[^\p{L}\p{N}_])`
	if isNumber(value) {
		before, after = `(^|[^\p{L}\p{N}_.,-])`, `($|[^\p{L}\p{N}_.,]|[.,](?:$|[^\d]))`
	}
	return regexp.MustCompile(before + "(" + regexp.QuoteMeta(value) + ")" + after)
}

func isWord(value, text string) bool { return word(value).MatchString(text) }

// template returns an expression that matches questions of the form of one, and the values in the
// places of its groups.
func template(question string, values []string) (form *regexp.Regexp, groups []string) {
	type place struct {
		begin, end int
		value      string
	}
	var places []place
	for _, value := range values {
		for from := 0; from < len(question); {
			m := word(value).FindStringSubmatchIndex(question[from:])
			if m == nil {
				break
			}
			p := place{from + m[4], from + m[5], value}
			from = p.end
			if !slices.ContainsFunc(places, func(o place) bool { return p.begin < o.end && o.begin < p.end }) {
				places = append(places, p)
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.begin - b.begin })
	b, end := strings.Builder{}, 0
	for _, p := range places {
		b.WriteString(regexp.QuoteMeta(question[end:p.begin]))
		if isNumber(p.value) {
			b.WriteString(`(\d[\d,]*(?:\.\d+)?)`)
		} else {
			b.WriteString(`(.+?)`)
		}
		groups, end = append(groups, p.value), p.end
	}
	b.WriteString(regexp.QuoteMeta(question[end:]))
	return regexp.MustCompile(`(?i)^` + b.String() + `$`), groups
}

// Code returns code with other values; whether it has each of those that are replaced; and whether
// that is clean: no short number stands there twice, and no string still has an old value.
func Code(swaps []Swap, code string) (varied string, whole, clean bool) {
	found := make([]int, len(swaps))
	varied = token().ReplaceAllStringFunc(code, func(t string) string {
		m := token().FindStringSubmatch(t)
		for i, s := range swaps {
			switch {
			case m[4] != "" && m[4] == s.From:
				found[i]++
				return strings.ReplaceAll(s.To, ",", "")
			case m[2] != "" && inside(m[2]) == s.From:
				found[i]++
				return m[1] + requoted(m[2], s.To)
			}
		}
		if m[2] == "" && !strings.HasPrefix(t, "#") {
			return t
		}
		for _, q := range quoted().FindAllStringSubmatch(inside(m[2]), -1) {
			for i, s := range swaps {
				if cmp.Or(q[1], q[2]) == s.From && plainText(s) {
					found[i]++
				}
			}
		}
		return wordsAround(swaps, t, strings.ContainsAny(m[1], "fF"))
	})
	clean = !leaves(swaps, varied)
	for i, s := range swaps {
		clean = clean && (found[i] < 2 || !isShort(s.From))
	}
	return varied, !slices.Contains(found, 0), clean
}

// leaves reports whether a string of some code still has an old value, in whatever case: then it means
// something that nobody has looked at, as in a regular expression.
func leaves(swaps []Swap, code string) bool {
	for _, m := range token().FindAllStringSubmatch(code, -1) {
		text := m[2]
		if strings.ContainsAny(m[1], "fF") {
			text = field().ReplaceAllString(text, " ")
		}
		text = strings.ToLower(text)
		for _, s := range swaps {
			from := strings.ToLower(s.From)
			text := strings.ReplaceAll(text, strings.ToLower(s.To), " ")
			if len(from) > 2 && strings.Contains(text, from) || isShort(from) && isWord(from, text) {
				return true
			}
		}
	}
	return false
}

// plainText reports whether a value can be replaced inside of a string.
func plainText(s Swap) bool { return !isShort(s.From) && !strings.ContainsAny(s.To, `'"`) }

// wordsAround replaces the values in a literal or comment, but not in the code of an f-string.
func wordsAround(swaps []Swap, text string, formatted bool) string {
	if !formatted {
		return words(swaps, text, plainText)
	}
	b, end := strings.Builder{}, 0
	for _, m := range field().FindAllStringIndex(text, -1) {
		b.WriteString(words(swaps, text[end:m[0]], plainText) + text[m[0]:m[1]])
		end = m[1]
	}
	return b.String() + words(swaps, text[end:], plainText)
}

// requoted returns a string literal of a value without double quotes and backslashes, in the quotes of
// another if it can.
func requoted(literal, value string) string {
	if strings.HasPrefix(literal, `'`) && !strings.Contains(value, "'") {
		return "'" + value + "'"
	}
	return `"` + value + `"`
}

// Text returns prose with other values.
func Text(swaps []Swap, text string) string {
	return words(swaps, text, func(Swap) bool { return true })
}

// words replaces the values that stand as words in a text, all at once.
func words(swaps []Swap, text string, use func(Swap) bool) string {
	var alternatives []string
	for _, s := range slices.SortedFunc(slices.Values(swaps), func(a, b Swap) int { return len(b.From) - len(a.From) }) {
		if use(s) {
			alternatives = append(alternatives, regexp.QuoteMeta(s.From))
		}
	}
	if alternatives == nil {
		return text
	}
	either := regexp.MustCompile(`(^|[^\p{L}\p{N}_])(` + strings.Join(alternatives, "|") + `)($|[^\p{L}\p{N}_])`)
	b := strings.Builder{}
	for {
		m := either.FindStringSubmatchIndex(text)
		if m == nil {
			return b.String() + text
		}
		i := slices.IndexFunc(swaps, func(s Swap) bool { return s.From == text[m[4]:m[5]] })
		b.WriteString(text[:m[4]] + swaps[i].To)
		text = text[m[5]:]
	}
}

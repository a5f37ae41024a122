// Package vary takes the cells of one question over to another question of the same form: one that
// has other values in some places and otherwise the same words. Values are strings and numbers of the
// cells that stand in the question. Nothing here knows what they mean: what is in doubt is refused, and
// whoever uses the cells has them judged.
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
	`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|([\p{L}_][\p{L}\p{N}_]*)|(\.?\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?)`)

// quoted matches a value inside of a string, such as one of SQL.
var quoted = lazy.Regexp(`'([^'"]*)'|"([^'"]*)"`)

// field matches the code in the braces of an f-string.
var field = lazy.Regexp(`\{[^{}]*\}?`)

const (
	maxCode  = 50_000 // bytes
	maxValue = 100    // bytes
	maxWords = 6      // of a value
	maxSwaps = 4
	minWords = 3 // that the questions share beside the values
)

// Between returns the values by which a question differs from one that cells have answered, and whether
// it is of the same form. Only what the cells compare, look for or assign is a value.
func Between(question string, cells []string, asked string) (swaps []Swap, ok bool) {
	question, asked = plain(question), plain(asked)
	code := strings.Join(cells, "\n")
	if len(code) > maxCode {
		return nil, false
	}
	form, values := template(question, valuesOf(code, question))
	found := form.FindStringSubmatch(asked)
	if found == nil {
		return nil, false
	}
	for i, from := range values {
		to := strings.TrimSpace(found[i+1])
		if strings.EqualFold(from, to) {
			to = from // people write names in small letters
		}
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

var year = lazy.Regexp(`^(?:19|20)\d\d$`)

// isPlain reports whether a number may stand several times, and in strings: years, and numbers of four
// digits or more that are not round. Others often mean something else, too.
func isPlain(number string) bool {
	return year().MatchString(number) ||
		len(number) > 3 && !strings.ContainsAny(number, ".,") && !strings.HasSuffix(number, "00")
}

// joints are words by which a text reads like more than one value, and ordered names have an order or
// a number that the cells may rest on.
var (
	joints  = wordSet("and or of in on at by per for from to with without than except not each every all both vs & und oder mit ohne")
	ordered = wordSet(`january february march april may june july august september october november december
		jan feb mar apr jun jul aug sep oct nov dec monday tuesday wednesday thursday friday saturday sunday
		mon tue wed thu fri sat sun q1 q2 q3 q4 low medium high first second third last`)
	ambiguous = lazy.Regexp(`^\d{1,3}\.\d{3}$`) // a thousand in German
)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// likeValue reports whether a value may stand for another: a number for a number, and of other text
// nothing that reads like more than one value.
func likeValue(from, to string) bool {
	if from == to {
		return true
	}
	if ordered[strings.ToLower(from)] || ordered[strings.ToLower(to)] {
		return false
	}
	if isNumber(from) {
		return isNumber(to) && !ambiguous().MatchString(to) && year().MatchString(from) == year().MatchString(to)
	}
	had, has := strings.Fields(from), strings.Fields(to)
	if len(has) == 0 || len(has) > len(had)+1 || len(to) > maxValue || strings.ContainsAny(to, ",;?!\\\"\n{}*+^$|[]") {
		return false
	}
	return !slices.ContainsFunc(has, func(word string) bool {
		return joints[strings.ToLower(word)] && !slices.Contains(had, word)
	})
}

// valuesOf returns the strings and numbers of some code that may be values of a question, the longest
// first. A string is one where it is compared, looked for or assigned, but not if it is a name in
// brackets, as of a column, or a key. A number is one if it stands once and in no string, or is plain.
func valuesOf(code, question string) (all []string) {
	numbers, texts, others := map[string]int{}, map[string]bool{}, map[string]bool{}
	var strung strings.Builder // all strings
	depth, end := 0, 0         // of brackets
	for _, m := range token().FindAllStringSubmatchIndex(code, -1) {
		gap := code[end:m[0]]
		depth += strings.Count(gap, "(") + strings.Count(gap, "[") - strings.Count(gap, ")") - strings.Count(gap, "]")
		end = m[1]
		switch {
		case m[8] >= 0:
			numbers[code[m[8]:m[9]]]++
		case m[4] >= 0:
			text := inside(code[m[4]:m[5]])
			strung.WriteString(" " + text + " ")
			before := code[max(0, m[0]-200):m[0]]
			texts[text] = texts[text] || isValue(before, code[m[1]:], depth == 0)
			others[text] = others[text] || isName(before, code[m[1]:])
			for _, q := range quoted().FindAllStringSubmatchIndex(text, -1) {
				within := text[q[0]+1 : q[1]-1]
				texts[within] = texts[within] || isValue("; "+text[max(0, q[0]-200):q[0]], text[q[1]:], true)
			}
		}
	}
	for text, value := range texts {
		if value && !others[text] && numbers[text] == 0 && strings.Contains(question, text) && len(text) <= maxValue &&
			strings.TrimSpace(text) != "" && len(strings.Fields(text)) <= maxWords {
			all = append(all, text)
		}
	}
	for n, times := range numbers {
		if strings.Contains(question, n) && (isPlain(n) || times == 1 && !isWord(n, strung.String())) {
			all = append(all, n)
		}
	}
	all = slices.DeleteFunc(all, func(a string) bool { // a title has values, but is none
		return slices.ContainsFunc(all, func(b string) bool { return a != b && isWord(b, a) })
	})
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
	looksFor  = lazy.Regexp(`(?i)(?:==|!=|<>|\bin|\blike|\bisin|\.eq|\.ne|\.get)$`)
	assigns   = lazy.Regexp(`(?:^|[\n;])\s*[\p{L}_][\p{L}\p{N}_., ]*(?:\s*:\s*[\p{L}_]+)?\s*=$`)
	sqlEquals = lazy.Regexp(`^; .*=$`)
	lookedFor = lazy.Regexp(`^\s*(?:==|!=|in\b|not in\b)`)
	indexed   = lazy.Regexp(`[\p{L}\p{N}_\])]\s*\[$`)
)

// isValue reports whether a string between two pieces of code is compared, looked for or assigned. Only
// a statement assigns: within brackets it is the name of an argument that stands before.
func isValue(before, after string, statement bool) bool {
	for item := listItem().FindStringIndex(before); item != nil; item = listItem().FindStringIndex(before) {
		before = before[:item[0]]
	}
	before = strings.TrimRight(before, " \n([{")
	return looksFor().MatchString(before) || statement && assigns().MatchString(before) ||
		sqlEquals().MatchString(before) || lookedFor().MatchString(after)
}

// isName reports whether a string is a name in brackets, as of a column, or the key of a dictionary.
func isName(before, after string) bool {
	before, after = strings.TrimRight(before, " \n"), strings.TrimLeft(after, " \n")
	return indexed().MatchString(before) && strings.HasPrefix(after, "]") || strings.HasPrefix(after, ":")
}

// word returns an expression for a value that stands as a whole word or number, in its second group.
func word(value string) *regexp.Regexp {
	before, after := `(^|[^\p{L}\p{N}_])`, `($|[^\p{L}\p{N}_])`
	if isNumber(value) {
		before, after = `(^|[^\p{L}\p{N}_.,-])`, `($|[^\p{L}\p{N}_.,]|[.,](?:$|[^\d]))`
	}
	return regexp.MustCompile(before + "(" + regexp.QuoteMeta(value) + ")" + after)
}

func isWord(value, text string) bool { return word(value).MatchString(text) }

// template returns an expression that matches questions of the form of one, and the values in the
// places of its groups. With too few words beside the values it matches nothing.
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
	b, end, shared := strings.Builder{}, 0, 0
	fixed := func(text string) {
		b.WriteString(regexp.QuoteMeta(text))
		shared += len(strings.Fields(text))
	}
	for _, p := range places {
		fixed(question[end:p.begin])
		if isNumber(p.value) {
			b.WriteString(`(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)`)
		} else {
			b.WriteString(`(.+?)`)
		}
		groups, end = append(groups, p.value), p.end
	}
	fixed(question[end:])
	if shared < minWords {
		return regexp.MustCompile(`^\b$`), nil
	}
	return regexp.MustCompile(`(?i)^` + b.String() + `$`), groups
}

// Code returns code with other values; whether it has each of those that are replaced; and whether
// that is clean: nothing in it still has an old value, or had a new one. Comments stay as they are.
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
		if m[2] == "" {
			return t
		}
		formatted := strings.ContainsAny(m[1], "fF")
		for _, q := range quoted().FindAllStringSubmatch(inside(m[2]), -1) {
			for i, s := range swaps {
				if cmp.Or(q[1], q[2]) == s.From && plainText(s) && !formatted {
					found[i]++
				}
			}
		}
		return wordsAround(swaps, t, formatted)
	})
	clean = !leaves(swaps, varied) && !foresees(swaps, code)
	for i, s := range swaps {
		clean = clean && (found[i] < 2 || !isNumber(s.From) || isPlain(s.From))
	}
	return varied, !slices.Contains(found, 0), clean
}

// leaves reports whether some code still has an old value, in whatever case: as a name, in a regular
// expression, in the name of a file, in the code of an f-string.
func leaves(swaps []Swap, code string) bool {
	for _, m := range token().FindAllStringSubmatch(code, -1) {
		for _, s := range swaps {
			if slices.ContainsFunc(swaps, func(o Swap) bool { return o.To == s.From }) {
				continue // two values change places
			}
			if m[3] == s.From || m[2] != "" && has(strings.ReplaceAll(m[2], s.To, " "), s.From) {
				return true
			}
		}
	}
	return false
}

// has reports whether a string has a value, in whatever case; short ones and numbers only by themselves.
func has(text, value string) bool {
	text, value = strings.ToLower(text), strings.ToLower(value)
	if !strings.Contains(text, value) {
		return false // without an expression, of which there would be one for each string
	}
	return len(value) > 2 && !isNumber(value) || regexp.MustCompile(`(^|[^\p{L}\p{N}])`+regexp.QuoteMeta(value)+`($|[^\p{L}\p{N}])`).MatchString(text)
}

// foresees reports whether some code has a new value already, or the year before or after a year: then
// it does more than the old value alone needs.
func foresees(swaps []Swap, code string) bool {
	for _, s := range swaps {
		others := []string{s.To}
		if n, err := strconv.Atoi(s.From); err == nil && year().MatchString(s.From) {
			others = append(others, strconv.Itoa(n-1), strconv.Itoa(n+1))
		}
		for _, other := range others {
			if slices.ContainsFunc(swaps, func(o Swap) bool { return o.From == other }) {
				continue
			}
			for _, m := range token().FindAllStringSubmatch(code, -1) {
				if m[4] == other || m[2] != "" && has(inside(m[2]), other) {
					return true
				}
			}
		}
	}
	return false
}

// plainText reports whether a value can be replaced inside of a string.
func plainText(s Swap) bool {
	return (!isNumber(s.From) || isPlain(s.From)) && !strings.ContainsAny(s.To, `'"`)
}

// wordsAround replaces the values in a string, but not in the code of an f-string.
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

// words replaces the values that stand as words or numbers in a text, all at once.
func words(swaps []Swap, text string, use func(Swap) bool) string {
	marked := func(i int) string { return string(rune(0xE000 + i)) } // of no language
	for i, s := range swaps {
		if !use(s) {
			continue
		}
		for re := word(s.From); ; {
			m := re.FindStringSubmatchIndex(text)
			if m == nil {
				break
			}
			text = text[:m[4]] + marked(i) + text[m[5]:]
		}
	}
	for i, s := range swaps {
		text = strings.ReplaceAll(text, marked(i), s.To)
	}
	return text
}

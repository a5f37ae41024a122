package compare

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"dsstar/notebook"
)

// volatile matches text that differs on every run and is not a result. What may be a result stays:
// dates and times, bare hexadecimal numbers, paths.
var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	// Addresses: <matplotlib.lines.Line2D at 0x7f…>, R's <environment: 0x55…>.
	{regexp.MustCompile(`\b(at|environment:|bytecode:|pointer:) 0x[0-9A-Fa-f]+`), "$1 0x…"},
	// %time, %%time, %timeit.
	{regexp.MustCompile(`(?m)^( *(?:CPU times|Wall time)):.*$`), "$1: …"},
	{regexp.MustCompile(`(?m)^.+ ± .+ per loop \(mean ± std\. dev\. of .*$`), "… per loop"},
	{regexp.MustCompile(`(?m)^The slowest run took .*$`), "The slowest run took …"},
	// A cell's file and number, in warnings and printed tracebacks.
	{regexp.MustCompile(`[^\s"'<>()]*[/\\]ipykernel_\d+[/\\]\d+\.py`), "cell.py"},
	{regexp.MustCompile(`<ipython-input-\d+-[0-9a-f]+>`), "cell.py"},
	{regexp.MustCompile(`\bCell In ?\[\d+\]`), "Cell In[…]"},
	// The process id in warnings about forks; names made by Python's tempfile.
	{regexp.MustCompile(`\(pid=\d+\)`), "(pid=…)"},
	{regexp.MustCompile(`/(?:gokernel|dsstar)-[0-9]+(\.tmp)?/tmp/`), "/"}, // the sandbox's
	{regexp.MustCompile(`([/\\]tmp)[a-z0-9_]{8}\b`), "$1…"},
	// The times of tqdm: [00:01<00:00, 9.91it/s].
	{regexp.MustCompile(`\[(?:\d+:)?\d+:\d+<[^\]\n]*\]`), "[…]"},
	// The date in matplotlib's SVG.
	{regexp.MustCompile(`<dc:date>[^<]*</dc:date>`), "<dc:date/>"},
}

// stable removes colours and volatile text.
func stable(text string) string {
	text = notebook.StripANSI(text)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}

// randomID matches random ids of elements: UUIDs, and those of pandas' Styler and of matplotlib's
// SVG.
var randomID = regexp.MustCompile(
	`\bid="(?:[^"]*([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})|(T_[0-9a-f]{5})[^"]*|((?:[A-Za-z]|image)[0-9a-f]{10}))`)

// withoutIDs numbers the random ids of HTML or SVG, wherever they occur.
func withoutIDs(text string) string {
	var pairs []string
	seen := map[string]bool{}
	for _, m := range randomID.FindAllStringSubmatch(text, -1) {
		id := m[1] + m[2] + m[3] // only one of them matched
		if !seen[id] {
			seen[id] = true
			pairs = append(pairs, id, fmt.Sprintf("id-%d", len(seen)))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// A token is a piece of text: a number to which the tolerance applies, white space, or anything
// else.
type token struct {
	text  string
	float bool
	space bool
	value float64
}

// next returns the token of s at position at, which is before the end.
func next(s string, at int) token {
	rest := s[at:]
	switch c := rest[0]; {
	case isSpace(c):
		return token{text: rest[:run(rest, isSpace)], space: true}
	case isLetter(c):
		return token{text: rest[:run(rest, isWord)]}
	case isDigit(c), (c == '+' || c == '-' || c == '.') && (at == 0 || !isWord(s[at-1])):
		if n, float := number(rest); n > 0 {
			t := token{text: rest[:n]}
			value, err := strconv.ParseFloat(t.text, 64)
			t.value, t.float = value, float && err == nil
			return t
		}
	}
	return token{text: rest[:1]}
}

// number returns the length of the number at the beginning of s, and whether the tolerance applies
// to it. It does not apply to integers, which are counts, to 1.2.3, which is a version, or to 12e5,
// which is part of a hash: Python and R write the sign of an exponent.
func number(s string) (length int, float bool) {
	n := 0
	if s[0] == '+' || s[0] == '-' {
		n++
	}
	whole := run(s[n:], isDigit)
	n += whole
	if n < len(s) && s[n] == '.' {
		if fraction := run(s[n+1:], isDigit); fraction > 0 {
			n += 1 + fraction
			float = true
		}
	}
	if whole == 0 && !float {
		return 0, false
	}
	if float && n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		return n + run(s[n:], func(c byte) bool { return isDigit(c) || c == '.' }), false
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		sign := 0
		if n+1 < len(s) && (s[n+1] == '+' || s[n+1] == '-') {
			sign = 1
		}
		if digits := run(s[n+1+sign:], isDigit); digits > 0 && (float || sign == 1) {
			return n + 1 + sign + digits, true
		}
	}
	return n, float
}

// run returns the number of bytes at the beginning of s for which such holds.
func run(s string, such func(byte) bool) int {
	for i := range len(s) {
		if !such(s[i]) {
			return i
		}
	}
	return len(s)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLetter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}
func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

// same reports whether two tokens are equal within the tolerance.
func (t token) same(u token, tolerance float64) bool {
	if t.float && u.float {
		return t.value == u.value ||
			math.Abs(t.value-u.value) <= tolerance*max(math.Abs(t.value), math.Abs(u.value))
	}
	return t.text == u.text
}

// numeric reports whether the token is a number of any kind.
func (t token) numeric() bool {
	return t.text != "" && isDigit(t.text[len(t.text)-1]) && !isLetter(t.text[0])
}

// sameText reports whether two texts are equal within the tolerance. White space may differ if
// equal numbers have different digits, and therefore different widths.
func sameText(a, b string, tolerance float64) bool {
	same, spaces, numbers := compareTokens(a, b, tolerance)
	return same && (!spaces || numbers)
}

// compareTokens reports whether two texts are equal within the tolerance apart from white space,
// whether white space differs, and whether equal numbers have different digits.
func compareTokens(a, b string, tolerance float64) (same, spaces, numbers bool) {
	if a == b {
		return true, false, false
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var t, u token
		if i < len(a) {
			t = next(a, i)
		}
		if j < len(b) {
			u = next(b, j)
		}
		switch {
		case t.space || u.space:
			spaces = spaces || t.text != u.text
			if t.space {
				i += len(t.text)
			}
			if u.space {
				j += len(u.text)
			}
			continue
		case !t.same(u, tolerance):
			return false, spaces, numbers
		}
		numbers = numbers || t.text != u.text
		i, j = i+len(t.text), j+len(u.text)
	}
	return true, spaces, numbers
}

package mask

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastText and leastDigits are the lengths from which on values are masked: shorter ones are parts
// of everything.
const (
	leastText   = 3 // bytes
	leastDigits = 6
)

// values are what is masked wherever it stands.
type values struct {
	known   map[string]string // numbers as they may be written: their digits; small texts: ""
	lengths map[string][]int  // of values by their first leastText bytes: most first
	// the values in order, and their reverses: those of an earlier time if there are fewer
	forth, back []string
}

func newValues() *values { return &values{known: map[string]string{}, lengths: map[string][]int{}} }

// isBreak reports whether a value is masked in parts around r: what printing it may change.
func isBreak(r rune) bool { return strings.ContainsRune("'\"\\", r) || unicode.IsControl(r) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

// separators are what may stand between the thousands of a number.
var separators = []string{"", ",", ".", "_", "'", " "}

var (
	numberForm = regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(?:[,._' ]\d{3})+)(?:\.\d*)?$`)
	notDigits  = regexp.MustCompile(`\D`)
)

// add takes a value in, and reports whether any of it is long enough.
func (v *values) add(value string) (added bool) {
	if at := numberForm.FindStringSubmatch(strings.TrimSpace(value)); at != nil {
		digits := notDigits.ReplaceAllString(at[1], "")
		if len(digits) < leastDigits {
			return false
		}
		for _, sep := range separators {
			v.put(grouped(digits, sep), digits)
		}
		return true
	}
	for part := range strings.FieldsFuncSeq(value, isBreak) {
		part = strings.TrimFunc(part, func(r rune) bool { return !isWord(r) })
		if len(part) >= leastText {
			added = true
			v.put(lower(part), "")
			inJSON := strconv.QuoteToASCII(part)
			v.put(lower(inJSON[1:len(inJSON)-1]), "")
		}
	}
	return added
}

func (v *values) put(text, digits string) {
	v.known[text] = cmp.Or(v.known[text], digits)
	first := text[:leastText]
	if all := v.lengths[first]; !slices.Contains(all, len(text)) {
		v.lengths[first] = append(all, len(text))
		slices.SortFunc(v.lengths[first], func(a, b int) int { return cmp.Compare(b, a) })
	}
}

// cutMarks stand for what is cut, by profiles and pandas, and by the agent.
var cutMarks = regexp.MustCompile(`\n\[… \d+ characters cut here …\]\n|…|\.\.\.`)

// find finds the known values in a text: the longest first, and only whole words. Of a value that
// is cut it finds what is left.
func (v *values) find(text string) (all []span) {
	if len(v.known) == 0 {
		return nil
	}
	small, edge := lower(text), edges(text)
	rests := v.rests(small, edge, cutMarks.FindAllStringIndex(text, -1))
	for at := 0; at < len(text); {
		n := 0
		if edge[at] {
			n = cmp.Or(v.longest(small, edge, at), rests[at])
		}
		if n > 0 {
			all = append(all, span{from: at, to: at + n})
		}
		at += max(n, 1)
	}
	return all
}

// longest returns the length of the longest known value that begins at a place; 0 if none does.
func (v *values) longest(small string, edge []bool, at int) int {
	for _, n := range v.lengths[small[at:min(at+leastText, len(small))]] {
		if at+n > len(small) || !edge[at+n] {
			continue
		}
		if _, known := v.known[small[at:at+n]]; known {
			return n
		}
	}
	return 0
}

// leastRest and mostRest are the bytes of what is left of a value that is cut.
const leastRest, mostRest = 6, 400

// rests returns the lengths of what is left of known values at the places where a text was cut, by
// where that begins.
func (v *values) rests(small string, edge []bool, cuts [][]int) map[int]int {
	all := map[int]int{}
	if len(cuts) > 0 && len(v.forth) != len(v.known) {
		v.forth = slices.Sorted(maps.Keys(v.known))
		v.back = nil
		for _, text := range v.forth {
			v.back = append(v.back, reversed(text))
		}
		slices.Sort(v.back)
	}
	for _, cut := range cuts {
		begin, end := cut[0], cut[1]
		for at := max(0, begin-mostRest); at <= begin-leastRest; at++ {
			if edge[at] && begun(v.forth, small[at:begin]) {
				all[at] = begin - at
			}
		}
		for n := leastRest; n <= min(mostRest, len(small)-end); n++ {
			if edge[end+n] && begun(v.back, reversed(small[end:end+n])) {
				all[end] = n
			}
		}
	}
	return all
}

// begun reports whether one of sorted texts begins with a part.
func begun(sorted []string, part string) bool {
	n, _ := slices.BinarySearch(sorted, part)
	return n < len(sorted) && strings.HasPrefix(sorted[n], part)
}

func reversed(text string) string {
	b := []byte(text)
	slices.Reverse(b)
	return string(b)
}

// grouped writes digits with a separator of thousands.
func grouped(digits, sep string) string {
	for at := len(digits) - 3; sep != "" && at > 0; at -= 3 {
		digits = digits[:at] + sep + digits[at:]
	}
	return digits
}

// lower returns a text in small letters, as far as they take as many bytes.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if small := unicode.ToLower(r); utf8.RuneLen(small) == utf8.RuneLen(r) {
			return small
		}
		return r
	}, text)
}

// edges says where in a text a word may begin or end. Words are runs of letters, runs of digits,
// and other characters alone. In "\name" one may begin with n, or behind it.
func edges(text string) []bool {
	all := make([]bool, len(text)+1)
	all[len(text)] = true
	before, escape := 0, false
	for at, r := range text {
		class := classOf(r)
		all[at] = class == 0 || class != before
		before = class
		if escape && strings.ContainsRune("abfnrtv", r) {
			before = -1 // the next letter begins a word
		}
		escape = r == '\\'
	}
	return all
}

// classOf returns what a character makes words with: 1 letters, 2 digits, 0 nothing. Scripts
// without spaces between words have no words here.
func classOf(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return 2
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar):
		return 0
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return 1
	}
	return 0
}

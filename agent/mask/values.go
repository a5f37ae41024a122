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

// values are what is masked wherever it stands. Texts are in small letters.
type values struct {
	texts   map[string]bool
	lengths map[string][]int // by a text's first word: how many words such texts have, most first
	digits  map[string]bool
	// the texts in order, and their reverses: those of an earlier time if there are fewer
	forth, back []string
}

func newValues() *values {
	return &values{texts: map[string]bool{}, lengths: map[string][]int{}, digits: map[string]bool{}}
}

func (v *values) empty() bool { return len(v.texts)+len(v.digits) == 0 }

// isBreak reports whether a value is masked in parts around r: what printing it may change.
func isBreak(r rune) bool { return strings.ContainsRune("'\"\\", r) || unicode.IsControl(r) }

var numberForm = regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(?:[,._' ]\d{3})+)(?:\.\d*)?$`)

// add takes a value in, and reports whether any of it is long enough.
func (v *values) add(value string) bool {
	if at := numberForm.FindStringSubmatch(strings.TrimSpace(value)); at != nil {
		digits := strings.Join(strings.FieldsFunc(at[1], func(r rune) bool { return r < '0' || r > '9' }), "")
		if len(digits) >= leastDigits {
			v.digits[digits] = true
		}
		return len(digits) >= leastDigits
	}
	added := false
	for part := range strings.FieldsFuncSeq(value, isBreak) {
		part = strings.TrimFunc(part, func(r rune) bool { return !isWord(r) })
		if len(part) < leastText {
			continue
		}
		added = true
		v.addText(part)
		if ascii := strconv.QuoteToASCII(part); ascii[1:len(ascii)-1] != part { // as in JSON
			v.addText(ascii[1 : len(ascii)-1])
		}
	}
	return added
}

func (v *values) addText(text string) {
	w := split(text)
	v.texts[w.small] = true
	first := w.word(0, 1)
	if n := w.len(); !slices.Contains(v.lengths[first], n) {
		v.lengths[first] = append(v.lengths[first], n)
		slices.SortFunc(v.lengths[first], func(a, b int) int { return cmp.Compare(b, a) })
	}
}

// find returns how many words the known value takes that begins with word i; of a number also its
// digits, and what separates its thousands.
func (v *values) find(w words, i int) (n int, digits, sep string) {
	if n = v.text(w, i); n > 0 {
		return n, "", ""
	}
	if w.escape(i) { // "\name" may be a line's end before "ame", or a name
		if n = v.text(w.joined(i), i); n > 0 {
			return n + 1, "", ""
		}
	}
	if digits, sep, n = v.number(w, i); n > 0 {
		return n, digits, sep
	}
	return v.rest(w, i), "", ""
}

// leastRest and mostRest are the bytes of what is left of a value that is cut.
const leastRest, mostRest = 6, 400

// rest returns how many words what is left of a known text takes that begins with word i and ends
// where the text was cut, or begins there.
func (v *values) rest(w words, i int) int {
	at := w.at[i]
	next, _ := slices.BinarySearchFunc(w.cuts, at, func(cut []int, at int) int { return cut[1] - at })
	for _, cut := range w.cuts[next:min(next+2, len(w.cuts))] {
		if forth := v.sorted(); cut[0]-at <= mostRest && at < cut[0] {
			n, _ := slices.BinarySearch(w.at[i:], cut[0])
			if begun(forth, w.word(i, n)) {
				return n
			}
		}
		for n := min(w.len()-i, mostRest); n > 0 && at == cut[1]; n-- {
			if begun(v.back, reversed(w.word(i, n))) {
				return n
			}
		}
	}
	return 0
}

// begun reports whether one of sorted texts begins with a part that is long enough to tell.
func begun(sorted []string, part string) bool {
	n, _ := slices.BinarySearch(sorted, part)
	return len(part) >= leastRest && n < len(sorted) && strings.HasPrefix(sorted[n], part)
}

func (v *values) sorted() []string {
	if len(v.forth) != len(v.texts) {
		v.forth = slices.Sorted(maps.Keys(v.texts))
		v.back = nil
		for _, text := range v.forth {
			v.back = append(v.back, reversed(text))
		}
		slices.Sort(v.back)
	}
	return v.forth
}

func reversed(text string) string {
	b := []byte(text)
	slices.Reverse(b)
	return string(b)
}

// text returns how many words of w the longest known text takes that begins with word i.
func (v *values) text(w words, i int) int {
	for _, n := range v.lengths[w.word(i, 1)] {
		if i+n <= w.len() && v.texts[w.word(i, n)] {
			return n
		}
	}
	return 0
}

// number returns the known number that begins with word i, what separates its thousands, and how
// many words it takes.
func (v *values) number(w words, i int) (digits, sep string, n int) {
	first := w.word(i, 1)
	if !isDigits(first) {
		return "", "", 0
	}
	if sep = w.word(i+1, 1); len(first) <= 3 && len(sep) == 1 && strings.Contains(",._' ", sep) {
		digits = first
		n = 1
		for w.word(i+n, 1) == sep && len(w.word(i+n+1, 1)) == 3 && isDigits(w.word(i+n+1, 1)) {
			digits += w.word(i+n+1, 1)
			n += 2
		}
		if v.digits[digits] {
			return digits, sep, n
		}
	}
	if v.digits[first] {
		return first, "", 1
	}
	return "", "", 0
}

// grouped writes digits with a separator of thousands.
func grouped(digits, sep string) string {
	for at := len(digits) - 3; sep != "" && at > 0; at -= 3 {
		digits = digits[:at] + sep + digits[at:]
	}
	return digits
}

func isDigits(word string) bool {
	return word != "" && strings.Trim(word, "0123456789") == ""
}

// words are a text in words: runs of letters, runs of digits, and other characters alone.
type words struct {
	small string  // the text in small letters
	at    []int   // where words begin in the text, and where it ends
	in    []int   // the same in small
	cuts  [][]int // where the text was cut
}

func (w words) len() int { return len(w.at) - 1 }

// word returns n words from the i-th on, in small letters; "" if there are not so many.
func (w words) word(i, n int) string {
	if i+n >= len(w.in) {
		return ""
	}
	return w.small[w.in[i]:w.in[i+n]]
}

// escape reports whether word i is the letter of an escape sequence, such as \n.
func (w words) escape(i int) bool {
	return i > 0 && w.word(i-1, 1) == `\` && w.in[i+1]-w.in[i] == 1 && i+1 < w.len()
}

// joined takes word i and the next for one.
func (w words) joined(i int) words {
	w.in = slices.Delete(slices.Clone(w.in[:min(len(w.in), i+64)]), i+1, i+2)
	w.at = w.at[:len(w.in)]
	return w
}

func split(text string) words {
	w := words{}
	var small strings.Builder
	small.Grow(len(text))
	before, class := 0, 0
	backslash := false
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		class = classOf(r)
		if class == 0 || class != before {
			w.at, w.in = append(w.at, at), append(w.in, small.Len())
		}
		if r == utf8.RuneError && size == 1 {
			small.WriteByte(text[at])
		} else {
			small.WriteRune(unicode.ToLower(r))
		}
		before = class
		if backslash && strings.ContainsRune("abfnrtv", r) {
			before = -1 // the next letter begins a word
		}
		backslash = r == '\\'
		at += size
	}
	w.small = small.String()
	w.at, w.in = append(w.at, len(text)), append(w.in, len(w.small))
	return w
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

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

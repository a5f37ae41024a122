package mask

import (
	"cmp"
	"index/suffixarray"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lengths from which on values are masked, in digits, else in bytes: shorter ones are parts of
// everything.
const leastText, leastDigits, leastRest = 3, 6, 6

// end is in no value.
const end = "\x00"

var (
	// separators are what may stand between the thousands of a number.
	separators = []string{"", ",", ".", "_", "'", " "}
	numberForm = regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(?:[,._' ]\d{3})+)(?:\.\d*)?$`)
	notDigits  = regexp.MustCompile(`\D`)
	// breaks are what printing a value may change: it is masked in parts around them.
	breaks = regexp.MustCompile(`\\[nr]|['"\\\pC]`)
)

// add takes a value in, and reports whether any of it is long enough.
func (m *Masker) add(value string) (added bool) {
	if at := numberForm.FindStringSubmatch(strings.TrimSpace(value)); at != nil {
		digits := notDigits.ReplaceAllString(at[1], "")
		if len(digits) < leastDigits {
			return false
		}
		for _, sep := range separators {
			m.put(grouped(digits, sep), digits)
		}
		return true
	}
	for _, part := range breaks.Split(value, -1) {
		part = strings.TrimFunc(part, func(r rune) bool { return !isWord(r) })
		if len(part) >= leastText {
			added = true
			m.put(lower(part), "")
			inJSON := strconv.QuoteToASCII(part)
			m.put(lower(inJSON[1:len(inJSON)-1]), "")
		}
	}
	return added
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

func (m *Masker) put(text, digits string) {
	m.known[text] = cmp.Or(m.known[text], digits)
	m.most[text[:leastText]] = max(m.most[text[:leastText]], len(text))
}

// find finds the known values in a text: the longest first, and only whole words. Of a value that
// is cut it finds what is left.
func (m *Masker) find(text string) (all []span) {
	if len(m.known) == 0 {
		return nil
	}
	small, edge := lower(text), edges(text)
	rests := m.rests(small, edge)
	for at := 0; at < len(text); at++ {
		if !edge[at] {
			continue
		}
		to := min(len(text), at+m.most[small[at:min(at+leastText, len(text))]])
		for ; to > at; to-- {
			if _, known := m.known[small[at:to]]; known && edge[to] {
				break
			}
		}
		if to = max(to, rests[at]); to > at {
			all = append(all, span{from: at, to: to})
			at = to - 1
		}
	}
	return all
}

// cutMarks stand for what is cut, by profiles and pandas, and by the agent.
var cutMarks = regexp.MustCompile(`\n\[… \d+ characters cut here …\]\n|…|\.\.\.`)

// rests returns where what is left of known values ends, at the places where a text was cut, by
// where it begins.
func (m *Masker) rests(small string, edge []bool) map[int]int {
	all := map[int]int{}
	for _, cut := range cutMarks.FindAllStringIndex(small, -1) {
		from, to := cut[0], cut[1]
		for n := leastRest; n <= from && m.has(small[from-n:from]); n++ {
			if edge[from-n] && m.has(end+small[from-n:from]) {
				all[from-n] = from
			}
		}
		for n := leastRest; n <= len(small)-to && m.has(small[to:to+n]); n++ {
			if edge[to+n] && m.has(small[to:to+n]+end) {
				all[to] = to + n
			}
		}
	}
	return all
}

// has reports whether some of the known values, each between two ends, have a part.
func (m *Masker) has(part string) bool {
	if m.size != len(m.known) {
		all := slices.Collect(maps.Keys(m.known))
		m.size = len(all)
		m.within = suffixarray.New([]byte(end + strings.Join(all, end) + end))
	}
	return len(m.within.Lookup([]byte(part), 1)) > 0
}

// grouped writes digits with a separator of thousands.
func grouped(digits, sep string) string {
	for at := len(digits) - 3; sep != "" && at > 0; at -= 3 {
		digits = digits[:at] + sep + digits[at:]
	}
	return digits
}

// groupedAs writes digits with the separator of another number.
func groupedAs(other, digits string) string { return grouped(digits, notDigits.FindString(other)) }

// lower returns a text in small letters, as far as they take as many bytes.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if small := unicode.ToLower(r); utf8.RuneLen(small) == utf8.RuneLen(r) {
			return small
		}
		return r
	}, text)
}

// wordForm matches a word: a run of letters, a run of digits, another character alone, and one of a
// script without spaces between words. In "\name" one may begin with n, or behind it.
var wordForm = func() *regexp.Regexp {
	const alone = `\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}`
	return regexp.MustCompile(`\\[abfnrtv]|(?:[^\PL` + alone + `]|[^\PM` + alone + `])+|[0-9]+|` +
		`(?s:.)`)
}()

// edges says where in a text a word may begin or end.
func edges(text string) []bool {
	all := make([]bool, len(text)+1)
	for _, at := range wordForm.FindAllStringIndex(text, -1) {
		all[at[0]], all[at[1]] = true, true
		if text[at[0]] == '\\' {
			all[at[0]+1] = true
		}
	}
	return all
}

package mask

import (
	"cmp"
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

var (
	numberForm = regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(?:[,._' ]\d{3})+)(?:\.\d*)?$`)
	notDigits  = regexp.MustCompile(`\D`)
	// aNumber matches a number in a text, with or without a separator of thousands.
	aNumber = regexp.MustCompile(`(\d{1,3}(?:(?:,\d{3})+|(?:\.\d{3})+|(?:_\d{3})+|(?:'\d{3})+|` +
		`(?: \d{3})+))(?:\D|$)|(\d+)`)
	// breaks are what printing a value may change: it is masked in parts around them.
	breaks = regexp.MustCompile(`\\[nr]|['"\\\pC]`)
	// cutMarks stand for what is cut, by profiles and pandas, and by the agent.
	cutMarks = regexp.MustCompile(`\n\[… \d+ characters cut here …\]\n|…|\.\.\.`)
)

// add takes a value in, and reports whether any of it is long enough.
func (m *Masker) add(value string) (added bool) {
	if at := numberForm.FindStringSubmatch(strings.TrimSpace(value)); at != nil {
		digits := notDigits.ReplaceAllString(at[1], "")
		if added = len(digits) >= leastDigits; added {
			m.numbers[digits] = true
		}
		return added
	}
	for _, part := range breaks.Split(value, -1) {
		part = strings.TrimFunc(part, func(r rune) bool { return !isWord(r) })
		if len(part) < leastText {
			continue
		}
		added = true
		inJSON := strconv.QuoteToASCII(part)
		for _, form := range []string{lower(part), lower(inJSON[1 : len(inJSON)-1])} {
			if _, known := m.texts.begins(form); !known {
				m.texts, m.ends = append(m.texts, form), append(m.ends, backwards(form))
				m.unsorted = true
			}
		}
	}
	return added
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

// find finds the known values in a text: the longest first, and only whole words. Of a value that
// is cut it finds what is left.
func (m *Masker) find(text string) (all []span) {
	for _, table := range []*table{&m.texts, &m.ends} {
		if m.unsorted {
			slices.Sort(*table)
			*table = slices.Compact(*table)
		}
	}
	m.unsorted = false
	for _, at := range aNumber.FindAllStringSubmatchIndex(text, -1) {
		s := span{from: at[0], to: max(at[3], at[5])}
		if s.digits = notDigits.ReplaceAllString(text[s.from:s.to], ""); m.numbers[s.digits] {
			all = append(all, s)
		}
	}
	if len(m.texts) > 0 {
		small, edge := lower(text), edges(text)
		begin, end := make([]bool, len(edge)), make([]bool, len(edge)) // of cuts
		for _, at := range cutMarks.FindAllStringIndex(text, -1) {
			begin[at[0]], end[at[1]] = true, true
		}
		all = append(all, m.texts.find(small, edge, begin)...)
		if slices.Contains(end, true) {
			slices.Reverse(edge)
			slices.Reverse(end)
			for _, s := range m.ends.find(backwards(small), edge, end) {
				all = append(all, span{from: len(text) - s.to, to: len(text) - s.from})
			}
		}
	}
	return apart(all)
}

// A table has texts in order, so that one is found by its beginning.
type table []string

// begins reports whether some text begins with a part, and whether one is the part.
func (t table) begins(part string) (begins, is bool) {
	i, is := slices.BinarySearch(t, part)
	return is || i < len(t) && strings.HasPrefix(t[i], part), is
}

// find finds the texts between edges of another, the longest first, and their beginnings before cuts.
func (t table) find(text string, edge, cut []bool) (all []span) {
	for at := 0; at < len(text); at++ {
		s := span{from: at, to: at}
		for to := at + 1; edge[at] && to <= len(text); to++ {
			if !edge[to] {
				continue
			}
			begins, is := t.begins(text[at:to])
			if is || begins && cut[to] && to-at >= leastRest {
				s.to = to
			}
			if !begins {
				break
			}
		}
		if s.to > at {
			all = append(all, s)
			at = s.to - 1
		}
	}
	return all
}

// apart returns spans in order, without those that overlap with one before them.
func apart(all []span) []span {
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	end := 0
	return slices.DeleteFunc(all, func(s span) bool {
		if s.from < end {
			return true
		}
		end = s.to
		return false
	})
}

func backwards(text string) string {
	all := []byte(text)
	slices.Reverse(all)
	return string(all)
}

// groupedAs writes digits with the separator of thousands of another number.
func groupedAs(other, digits string) string {
	sep := notDigits.FindString(other)
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

// Package mask keeps credentials, and the values of columns that a person names, out of what goes
// to a model.
//
// A [Masker] replaces them by stand-ins that are the same in each request, and turns the stand-ins
// of a reply back. A stand-in of a text is "masked" and ten letters, in the case of the text; that
// of a number is a number of 15 digits. Both come from a keyed hash of the value.
package mask

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Masker masks texts. Its methods may be called concurrently.
type Masker struct {
	key []byte

	mu      sync.Mutex
	columns bool              // values of columns were added
	real    map[string]string // by stand-in: digits, or a text

	// what is masked wherever it stands
	numbers     map[string]bool // by their digits
	texts, ends table           // in small letters; the same backwards
	unsorted    bool            // texts and ends were added
}

// New returns a masker. Stand-ins are the same for the same key; without one they differ each time.
func New(key []byte) *Masker {
	if len(key) == 0 {
		key = []byte(rand.Text())
	}
	return &Masker{key: key, real: map[string]string{}, numbers: map[string]bool{}}
}

// note tells a model of the stand-ins for values of columns.
const note = `

Some values in the data are private. In their place you see stand-ins, in outputs as in code: "masked"
and ten letters for a text, 15 digits that begin with 9 for a number. Equal values have equal stand-ins,
so that they can be counted, joined and compared. Use a stand-in where you would use the value: cells
run with the real values, and an answer shows them. Do not take stand-ins apart.`

// Note returns what to tell a model about stand-ins, always the same; "" if no column is masked.
func (m *Masker) Note() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.columns {
		return note
	}
	return ""
}

// Add has the values of a column masked from now on. It returns how many of them are too short.
func (m *Masker) Add(all []string) (short int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.columns = true
	for _, v := range all {
		if !m.add(v) {
			short++
		}
	}
	return short
}

// Learn has the credentials in a text masked from then on, and returns the lines that have some.
func (m *Masker) Learn(text string) (lines []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text = strings.ToValidUTF8(text, "\uFFFD")
	line, at := 1, 0
	for _, s := range m.learn(text) {
		line, at = line+strings.Count(text[at:s.from], "\n"), s.from
		lines = append(lines, line)
	}
	return slices.Compact(lines)
}

// words matches what may be a word, or a path of names.
var words = regexp.MustCompile(`^[./~]*[A-Za-z_]+(?:[._/-][A-Za-z_]+)*$`)

// learn finds the credentials in a text, which is valid UTF-8. One that may be a word is only masked where its context
// tells.
func (m *Masker) learn(text string) []span {
	all := credentials(text)
	for _, s := range all {
		value := text[s.from:s.to]
		if len(value) >= 6 && !(words.MatchString(value) && slices.Contains(dresses(value), value)) {
			m.add(value)
		}
	}
	return all
}

// Mask replaces credentials and known values.
func (m *Masker) Mask(text string) string { return m.MaskAll([]string{text})[0] }

// MaskAll masks texts: what is a credential in one of them is masked in all.
func (m *Masker) MaskAll(texts []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	masked := make([]string, len(texts))
	for i, text := range texts {
		text = strings.ToValidUTF8(text, "\uFFFD")
		masked[i] = m.replace(text, m.learn(text))
	}
	for i, text := range masked {
		masked[i] = m.replace(text, m.find(text))
	}
	return masked
}

// replace puts stand-ins in the places of spans.
func (m *Masker) replace(text string, spans []span) string {
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(text[end:s.from] + m.standIn(text[s.from:s.to], s.digits))
		end = s.to
	}
	return b.String() + text[end:]
}

// standIn returns the stand-in of a value. A text has the same letters in each of its dresses, and a
// number the same digits in each form.
func (m *Masker) standIn(text, digits string) string {
	if digits != "" {
		s := fmt.Sprint(900_000_000_000_000 + m.hash(digits)%100_000_000_000_000)
		m.real[s] = digits
		return groupedAs(text, s)
	}
	all := dresses(text)
	of, at := all[0], slices.Index(all, text)
	if at < 0 {
		of, at, all[capitals] = text, capitals, text
	}
	s := "masked"
	for n := m.hash(of); len(s) < len("masked")+10; n /= 26 {
		s += string(rune('a' + n%26))
	}
	worn := dresses(s)
	for i, dress := range worn {
		m.real[dress] = all[i]
	}
	return worn[at]
}

func (m *Masker) hash(text string) uint64 {
	h := hmac.New(sha256.New, m.key)
	fmt.Fprint(h, "mask ", text)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// capitals is the dress with capitals at the words' beginnings, also of a text in none of them.
const capitals = 2

var firstLetters = regexp.MustCompile(`(?:^|\PL)\pL`)

// dresses returns a text in small letters, in large ones and with capitals at the words' beginnings.
func dresses(text string) []string {
	small := strings.ToLower(text)
	return []string{small, strings.ToUpper(small),
		firstLetters.ReplaceAllStringFunc(small, strings.ToUpper)}
}

var (
	masked   = regexp.MustCompile(`(?i:masked[a-z]{10})`)
	standIns = regexp.MustCompile(masked.String() + `|9(?:\d{14}|\d\d(?:[,._' ]\d{3}){4})`)
)

// Unmask turns stand-ins back.
func (m *Masker) Unmask(text string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return standIns.ReplaceAllStringFunc(text, func(s string) string {
		value, is := m.real[s]
		if !is {
			value = groupedAs(s, m.real[notDigits.ReplaceAllString(s, "")])
		}
		return cmp.Or(value, s)
	})
}

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

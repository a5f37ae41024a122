// Package mask keeps credentials, and the values of columns that a person names, out of what goes
// to a model.
//
// A [Masker] replaces them by stand-ins that are the same in each request, and turns the stand-ins
// of a reply back. A stand-in of a text is "masked" and ten letters, in the case of the text; that
// of a number is a number of 15 digits. Both come from a keyed hash of the value.
package mask

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
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
		if value == "" {
			return s
		}
		return value
	})
}

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
	"encoding/json"
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
	known   *values           // to be masked wherever they stand
	real    map[string]string // by stand-in: what it stands for
	columns bool              // values were added
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

// New returns a masker. Stand-ins are the same for the same key; without one they differ each time.
func New(key []byte) *Masker {
	if len(key) == 0 {
		key = []byte(rand.Text())
	}
	return &Masker{key: key, known: newValues(), real: map[string]string{}}
}

// Add has the values of a column masked from now on. It returns how many of them are too short.
func (m *Masker) Add(all []string) (short int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.columns = true
	for _, v := range all {
		if !m.known.add(v) {
			short++
		}
	}
	return short
}

// A Find is a credential in a text.
type Find struct {
	Line int // from 1
	Kind string
}

// Learn finds the credentials in a text, which are masked from then on: of each line the first.
func (m *Masker) Learn(text string) (all []Find) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line, at := 1, 0
	for _, s := range m.learn(text) {
		line, at = line+strings.Count(text[at:s.from], "\n"), s.from
		if n := len(all); n == 0 || all[n-1].Line != line {
			all = append(all, Find{line, s.rule.kind})
		}
	}
	return all
}

// learn finds the credentials in a text. One that may be a word is only masked where its context
// tells.
func (m *Masker) learn(text string) []span {
	all := credentials(text)
	for _, s := range all {
		value := text[s.from:s.to]
		small := strings.ToLower(value)
		word := namePath.MatchString(value) &&
			(value == small || value == strings.ToUpper(small) || value == title(small))
		switch {
		case len(value) < 6 || word:
		case s.rule.look == quoted:
			m.known.add(value)
		default:
			for line := range strings.FieldsSeq(lineEnds.Replace(value)) { // of a key block also alone
				m.known.add(line)
			}
		}
	}
	return all
}

var lineEnds = strings.NewReplacer(`\n`, "\n", `\r`, "\n")

var firstLetters = regexp.MustCompile(`(?:^|\PL)\pL`)

// title writes each word's first letter in capitals.
func title(small string) string {
	return firstLetters.ReplaceAllStringFunc(small, strings.ToUpper)
}

// Mask replaces credentials and known values.
func (m *Masker) Mask(text string) string { return m.MaskAll([]string{text})[0] }

// MaskAll masks texts: what is a credential in one of them is masked in all.
func (m *Masker) MaskAll(texts []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	masked := make([]string, len(texts))
	for i, text := range texts {
		masked[i] = strings.ToValidUTF8(m.replace(text, m.learn(text)), "\uFFFD")
	}
	for i, text := range masked {
		masked[i] = m.replace(text, m.known.find(text))
	}
	return masked
}

// replace puts stand-ins in the places of spans.
func (m *Masker) replace(text string, spans []span) string {
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(text[end:s.from])
		b.WriteString(m.standIn(text[s.from:s.to]))
		end = s.to
	}
	return b.String() + text[end:]
}

// standIn returns the stand-in of a value, and takes note of what its other forms stand for. A text
// and its forms in small letters, in capitals and with capitals at the words' beginnings have the
// same letters.
func (m *Masker) standIn(text string) string {
	if digits := m.known.known[text]; digits != "" {
		s := fmt.Sprint(900_000_000_000_000 + m.hash(digits)%100_000_000_000_000)
		for _, sep := range separators {
			m.real[grouped(s, sep)] = grouped(digits, sep)
		}
		sep := strings.Trim(text, "0123456789")
		return grouped(s, sep[:min(1, len(sep))])
	}
	of := strings.ToLower(text)
	small, large, capital := of, strings.ToUpper(of), title(of)
	if !slices.Contains([]string{small, large, capital}, text) {
		of, capital = text, text
	}
	s := "masked" + m.letters(of)
	m.real[s], m.real[strings.ToUpper(s)], m.real["M"+s[1:]] = small, large, capital
	switch text {
	case small:
		return s
	case large:
		return strings.ToUpper(s)
	}
	return "M" + s[1:]
}

func (m *Masker) hash(text string) uint64 {
	h := hmac.New(sha256.New, m.key)
	fmt.Fprint(h, "mask ", text)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

func (m *Masker) letters(text string) string {
	n, b := m.hash(text), make([]byte, 10)
	for i := range b {
		b[i] = 'a' + byte(n%26)
		n /= 26
	}
	return string(b)
}

var (
	masked   = regexp.MustCompile(`(?i:masked[a-z]{10})`)
	standIns = regexp.MustCompile(masked.String() + `|9(?:\d{14}|\d\d(?:,\d{3}){4}|\d\d(?:\.\d{3}){4}|` +
		`\d\d(?:_\d{3}){4}|\d\d(?:'\d{3}){4}|\d\d(?: \d{3}){4})`)
)

// Unmask turns stand-ins back. In JSON they are written as strings hold them.
func (m *Masker) Unmask(text string, isJSON bool) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return standIns.ReplaceAllStringFunc(text, func(s string) string {
		value, known := m.real[s]
		if !known {
			return s
		}
		if isJSON {
			quoted, _ := json.Marshal(value)
			return string(quoted[1 : len(quoted)-1])
		}
		return value
	})
}

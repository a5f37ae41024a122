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
	"unicode"
)

// A Masker masks texts. Its methods may be called concurrently. The nil Masker masks nothing.
type Masker struct {
	key []byte

	mu      sync.Mutex
	known   *values           // to be masked wherever they stand
	real    map[string]string // by stand-in: what it stands for
	finds   []string          // kinds of credentials that were found in requests, not told yet
	secrets map[string]bool   // credentials that were seen
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
	if m == nil {
		return ""
	}
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
	return &Masker{key: key, known: newValues(), real: map[string]string{}, secrets: map[string]bool{}}
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

// A Find is a credential in a file.
type Find struct {
	Line int // from 1
	Kind string
}

// Scan finds the credentials in the text of a file, which are masked from then on.
func (m *Masker) Scan(text string) (all []Find) {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	line, at := 1, 0
	for _, s := range credentials(text) {
		line, at = line+strings.Count(text[at:s.from], "\n"), s.from
		m.secret(text[s.from:s.to], s.rule)
		if n := len(all); n == 0 || all[n-1].Line != line {
			all = append(all, Find{line, s.rule.kind})
		}
	}
	return all
}

// secret takes note of a credential and reports whether it is new. One that may be a word is only
// masked where its context tells.
func (m *Masker) secret(value string, by *rule) bool {
	if m.secrets[value] {
		return false
	}
	m.secrets[value] = true
	small := strings.ToLower(value)
	word := namePath.MatchString(value) &&
		(value == small || value == strings.ToUpper(small) || value == title(small))
	switch {
	case len(value) < 6 || word:
	case by.look == quoted:
		m.known.add(value)
	default:
		for line := range strings.FieldsSeq(lineEnds.Replace(value)) { // of a key block also alone
			m.known.add(line)
		}
	}
	return true
}

var lineEnds = strings.NewReplacer(`\n`, "\n", `\r`, "\n")

// Learn finds the credentials in a text as [Masker.Scan] does. News tells of those that are new.
func (m *Masker) Learn(text string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.learn(text)
}

func (m *Masker) learn(text string) []span {
	all := credentials(text)
	for _, s := range all {
		if m.secret(text[s.from:s.to], s.rule) {
			m.finds = append(m.finds, s.rule.kind)
		}
	}
	return all
}

// Mask replaces credentials and known values.
func (m *Masker) Mask(text string) string { return m.MaskAll([]string{text})[0] }

// MaskAll masks texts: what is a credential in one of them is masked in all.
func (m *Masker) MaskAll(texts []string) []string {
	if m == nil {
		return texts
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make([][]span, len(texts))
	for i, text := range texts {
		found[i] = m.learn(text)
	}
	masked := make([]string, len(texts))
	for i, text := range texts {
		var b strings.Builder
		end := 0
		for _, s := range found[i] {
			b.WriteString(text[end:s.from])
			b.WriteString(m.standIn(text[s.from:s.to]))
			end = s.to
		}
		b.WriteString(text[end:])
		masked[i] = m.maskKnown(b.String())
	}
	return masked
}

// maskKnown replaces the known values: the longest first, and only whole words. Of a value that is
// cut it replaces what is left.
func (m *Masker) maskKnown(text string) string {
	if m.known.empty() {
		return text
	}
	words := split(text)
	words.cuts = cutMarks.FindAllStringIndex(text, -1)
	var b strings.Builder
	end := 0
	for i := 0; i < words.len(); {
		n, digits, sep := m.known.find(words, i)
		if n == 0 {
			i++
			continue
		}
		b.WriteString(text[end:words.at[i]])
		end = words.at[i+n]
		if digits == "" {
			b.WriteString(m.standIn(text[words.at[i]:end]))
		} else {
			b.WriteString(grouped(m.standInNumber(digits), sep))
		}
		i += n
	}
	b.WriteString(text[end:])
	return b.String()
}

// cutMarks stand for what is cut, by profiles and pandas, and by the agent.
var cutMarks = regexp.MustCompile(`\n\[… \d+ characters cut here …\]\n|…|\.\.\.`)

// standIn returns the stand-in of a text. A text and its forms in small letters, in capitals and
// with capitals at the words' beginnings have the same letters.
func (m *Masker) standIn(text string) string {
	small := strings.ToLower(text)
	s := ""
	switch text {
	case small:
		s = "masked" + m.letters(small)
	case strings.ToUpper(small):
		s = strings.ToUpper("masked" + m.letters(small))
	case title(small):
		s = "Masked" + m.letters(small)
	default:
		s = "Masked" + m.letters(text)
	}
	m.real[s] = text
	return s
}

func (m *Masker) sum(text string) []byte {
	h := hmac.New(sha256.New, m.key)
	fmt.Fprint(h, "mask ", text)
	return h.Sum(nil)
}

func (m *Masker) letters(text string) string {
	n := binary.BigEndian.Uint64(m.sum(text))
	b := make([]byte, 10)
	for i := range b {
		b[i] = 'a' + byte(n%26)
		n /= 26
	}
	return string(b)
}

func (m *Masker) standInNumber(digits string) string {
	s := fmt.Sprint(900_000_000_000_000 + binary.BigEndian.Uint64(m.sum(digits))%100_000_000_000_000)
	m.real[s] = digits
	return s
}

var (
	standIns = regexp.MustCompile(`(?i)masked[a-z]{10}`)
	numbers  = regexp.MustCompile(`9(?:\d{14}|\d\d(?:,\d{3}){4}|\d\d(?:\.\d{3}){4}|\d\d(?:_\d{3}){4}|` +
		`\d\d(?:'\d{3}){4}|\d\d(?: \d{3}){4})`)
)

// Unmask turns stand-ins back. In JSON they are written as strings hold them.
func (m *Masker) Unmask(text string, isJSON bool) string {
	if m == nil {
		return text
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.real) == 0 {
		return text
	}
	text = standIns.ReplaceAllStringFunc(text, func(s string) string {
		value, ok := m.real[s]
		if !ok {
			value, ok = m.inCase(s)
		}
		if !ok {
			return s
		}
		if isJSON {
			quoted, _ := json.Marshal(value)
			return string(quoted[1 : len(quoted)-1])
		}
		return value
	})
	return numbers.ReplaceAllStringFunc(text, func(s string) string {
		sep := strings.Trim(s, "0123456789")
		if sep != "" {
			sep = sep[:1]
		}
		if digits, ok := m.real[strings.ReplaceAll(s, sep, "")]; ok {
			return grouped(digits, sep)
		}
		return s
	})
}

// inCase finds a stand-in that a model has written in another case.
func (m *Masker) inCase(s string) (value string, ok bool) {
	small := strings.ToLower(s)
	for _, form := range []string{small, "M" + small[1:], strings.ToUpper(small)} {
		if value, ok = m.real[form]; ok {
			break
		}
	}
	switch s {
	case small:
		return strings.ToLower(value), ok
	case strings.ToUpper(small):
		return strings.ToUpper(value), ok
	}
	return value, ok
}

// News returns, once each, the kinds of credentials that Mask or Learn has found and Scan had not.
func (m *Masker) News() []string {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kinds := slices.Compact(slices.Sorted(slices.Values(m.finds)))
	m.finds = nil
	return kinds
}

// title writes each word's first letter in capitals.
func title(text string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		was := before
		before = r
		if unicode.IsLetter(was) {
			return r
		}
		return unicode.ToUpper(r)
	}, text)
}

package reply

import (
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// fields are what a reply says, by name, in JSON or in labelled lines.
type fields struct {
	text  map[string]string // a name that occurs again adds a line
	again map[string]bool   // it did so with another text
	items []string          // the options
	parts []*fields         // readings or branches
	raw   strings.Builder   // what holds the code blocks
	talk  strings.Builder   // the lines that are neither code nor fields
	lead  string            // those before the first code
	bare  strings.Builder   // the code after a label, without a block
	cells []string          // the code of a JSON object
}

func newFields() *fields {
	return &fields{text: map[string]string{}, again: map[string]bool{}}
}

// longestField is how much of a field is kept. The rest of it is talk, or a copying error.
const longestField = 4000

func (f *fields) add(name, value string) {
	value = brief.Clip(strings.TrimSpace(value), longestField)
	before, again := f.text[name]
	switch {
	case !again || before == "":
		f.text[name] = value
	case value != "" && !strings.EqualFold(before, value):
		f.text[name] = before + "\n" + value
		f.again[name] = true
	}
}

// line returns a field as one paragraph; "" if it says that there is nothing.
func (f *fields) line(name string) string {
	text := strings.Trim(strings.Join(strings.Fields(f.text[name]), " "), " *_")
	if isNothing(text) {
		return ""
	}
	return brief.Clip(text, 600)
}

var (
	numberIn = lazy.Regexp(`(?i)\b(?:\d{1,4}|` + numeral + `)\b`)
	ofAll    = lazy.Regexp(`(?i)\b(?:out\s+)?of\s+(?:the\s+)?\d+`)
)

// numbers returns the numbers that a field names, in digits or in words.
func (f *fields) numbers(name string) (all []int) {
	text := ofAll().ReplaceAllString(f.text[name], "")
	for _, found := range numberIn().FindAllString(text, -1) {
		n, err := strconv.Atoi(found)
		for i, word := range strings.Split(numeral, "|") {
			if err != nil && strings.EqualFold(word, found) {
				n = i + 1
			}
		}
		all = append(all, n)
	}
	return all
}

// code returns the code of a JSON object, or that of the code blocks. It is "" if there is none.
func (f *fields) code() (string, error) {
	text := f.raw.String()
	isCell := !isNothing(strings.Join(f.cells, ""))
	if isCell {
		text = strings.Join(f.cells, "\n")
	}
	blocks, _ := codeBlocks(text)
	switch bare := f.bare.String(); {
	case len(blocks) == 0 && isCell:
		return cell(strings.ReplaceAll(text, "\r\n", "\n"))
	case len(blocks) == 0 && isPython(bare):
		return cell(bare)
	}
	code, err := codeIn(text)
	if err == errNoCode || err == errEmpty {
		return "", nil
	}
	return code, err
}

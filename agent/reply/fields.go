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
	raw   string            // what holds the code blocks
	talk  string            // the lines that are neither code nor fields
	lead  string            // those before the first code
	cells []string          // the code of a JSON object
}

func newFields() *fields {
	return &fields{text: map[string]string{}, again: map[string]bool{}}
}

func (f *fields) add(name, value string) {
	value = strings.TrimSpace(value)
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
	text := f.raw
	if len(f.cells) > 0 && !isNothing(strings.Join(f.cells, "")) {
		text = strings.Join(f.cells, "\n")
	}
	blocks, _ := codeBlocks(text)
	switch labelled := f.text["code"]; {
	case len(blocks) == 0 && text != f.raw:
		return cell(strings.ReplaceAll(text, "\r\n", "\n"))
	case len(blocks) == 0 && isPython(labelled):
		return cell(labelled)
	}
	code, err := codeIn(text)
	if err == errNoCode || err == errEmpty {
		return "", nil
	}
	return code, err
}

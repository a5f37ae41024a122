package memory

import "strings"

// A Fact is a definition or rule, with where it comes from.
type Fact struct {
	Text   string `json:"text"`
	Source string `json:"source"` // "manual.md, section 5"; "" if none is given
}

// String returns the fact as an item of facts.md.
func (f Fact) String() string {
	if f.Source == "" {
		return f.Text
	}
	return f.Text + sourceMark + f.Source
}

// sourceMark separates a fact from its source.
const sourceMark = " — source: "

const factsHead = `# Facts about these data

One item for each, with its source. Edit them freely: they are shown to the model as evidence.

`

// readFacts reads the items of a Markdown list.
func (m *Memory) readFacts(text string) {
	for _, part := range parts(text) {
		if f, ok := factIn(part); ok && f.Text != "" {
			m.Facts = append(m.Facts, f)
		}
	}
}

// parts returns a text in parts: a line each, with the indented and empty lines below it.
func parts(text string) (all []string) {
	for line := range strings.Lines(text) {
		if n := len(all); n > 0 && (strings.HasPrefix(line, " ") || strings.TrimSpace(line) == "") {
			all[n-1] += line
		} else {
			all = append(all, line)
		}
	}
	return all
}

// factIn returns the fact of a list's item.
func factIn(part string) (f Fact, ok bool) {
	item, ok := cutBullet(part)
	text, source, _ := strings.Cut(oneLine(item), sourceMark)
	return Fact{strings.TrimSpace(text), strings.TrimSpace(source)}, ok
}

func cutBullet(line string) (string, bool) {
	for _, bullet := range []string{"- ", "* "} {
		if item, ok := strings.CutPrefix(line, bullet); ok {
			return item, true
		}
	}
	return "", false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

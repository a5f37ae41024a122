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

// readFacts reads the items of a Markdown list. Indented lines continue an item.
func (m *Memory) readFacts(text string) {
	var items []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n ")
		switch item, ok := cutBullet(line); {
		case ok:
			items = append(items, item)
		case len(items) > 0 && strings.HasPrefix(line, " "):
			items[len(items)-1] += " " + strings.TrimSpace(line)
		}
	}
	for _, item := range items {
		text, source, _ := strings.Cut(item, sourceMark)
		if text = strings.TrimSpace(text); text != "" {
			m.Facts = append(m.Facts, Fact{text, strings.TrimSpace(source)})
		}
	}
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

package reply

import (
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

// A Block is a code block of a text.
type Block struct{ Language, Code string }

// Blocks returns the closed code blocks of a text, in order.
func Blocks(text string) (all []Block) {
	blocks, _ := codeBlocks(text)
	for _, b := range blocks {
		language, _, _ := strings.Cut(b.info, " ")
		if b.isPython() {
			language = "python"
		}
		if b.closed {
			all = append(all, Block{language, b.code})
		}
	}
	return all
}

// A block is the text between two fences.
type block struct {
	info   string // the words after the opening fence, in small letters
	code   string
	closed bool
}

var pythonInfo = lazy.Regexp(
	`^(?:\{code-cell\}\s*)?\{?\s*\.?(?:i?python|py)(?:[23](?:\.\d+)?)?(?:$|[\s{}:,;])`,
)

// isPython reports whether a text is Python throughout: every statement has a form that no
// sentence has, and one of them does something.
func (b block) isPython() bool {
	return pythonInfo().MatchString(b.info) || b.info == "{code-cell}"
}

// fenceLine opens or closes a code block: ``` or ~~~, three or more, in a list
// or a quotation too, with words after the opening one.
var fenceLine = lazy.Regexp(
	"^((?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\\d{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$",
)

// A fence is an open fence; it has no marks if none is open.
type fence struct{ before, marks, info string }

func (f fence) isOpen() bool { return f.marks != "" }

// after returns the fence that is open after one more line.
func (f fence) after(line string) fence {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return f
	}
	m := fenceLine().FindStringSubmatch(strings.TrimRight(line, "\n"))
	switch {
	case m == nil:
	case !f.isOpen():
		return fence{m[1], m[2], strings.ToLower(m[3])}
	case m[3] == "" && strings.HasPrefix(m[2], f.marks) && strings.Trim(m[1], "> \t") == "" && len(m[1]) <= len(f.before)+3:
		return fence{}
	}
	return f
}

// codeBlocks returns the blocks of a text and whether there is any other text. The last
// block may be open.
func codeBlocks(text string) (blocks []block, talk bool) {
	var open fence
	var lines []string
	for line := range strings.Lines(text) {
		next := open.after(line)
		switch {
		case open.isOpen() && !next.isOpen():
			blocks = append(blocks, block{open.info, open.content(lines), true})
			lines = nil
		case open.isOpen():
			lines = append(lines, line)
		case !next.isOpen() && strings.TrimSpace(line) != "":
			talk = true
		}
		open = next
	}
	if open.isOpen() {
		blocks = append(blocks, block{open.info, open.content(lines), false})
	}
	return blocks, talk
}

// content returns the code between fences without empty lines around it. It removes
// quotation marks and the indent of a list item, the same from every line, so that the code
// keeps its structure.
func (f fence) content(lines []string) string {
	if strings.Contains(f.before, ">") {
		for i, line := range lines {
			line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), ">")
			lines[i] = strings.TrimPrefix(line, " ")
		}
	}
	common := len(f.before)
	for _, line := range lines {
		if indent := len(line) - len(strings.TrimLeft(line, " \t")); strings.TrimSpace(line) != "" {
			common = min(common, indent)
		}
	}
	var b strings.Builder
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			line = line[common:]
		}
		b.WriteString(line)
	}
	return strings.TrimRight(strings.TrimLeft(b.String(), "\n"), " \t\n")
}

var (
	openingTags = lazy.Regexp(
		`(?im)^[ \t]*<(?:pre|code|python)\b[^<>\n]*>(?:[ \t]*<(?:code|python)\b[^<>\n]*>)?`,
	)
	closingTags = lazy.Regexp(`(?im)</(?:pre|code|python)>(?:[ \t\n]*</pre>)?[ \t]*$`)
	otherTags   = lazy.Regexp(`(?i)(?:language|lang)[-="']+(\w+)`)
)

// taggedCode is codeBlocks for HTML: one pair of tags around the code, each at the end of a
// line.
func taggedCode(text string) (blocks []block, talk bool) {
	if !strings.Contains(text, "</") {
		return nil, true
	}
	opening, closing := openingTags().FindAllStringIndex(text, 2),
		closingTags().FindAllStringIndex(text, 2)
	if len(opening) != 1 || len(closing) != 1 || opening[0][1] > closing[0][0] {
		return nil, true
	}
	info := ""
	if m := otherTags().FindStringSubmatch(text[opening[0][0]:opening[0][1]]); m != nil {
		info = strings.ToLower(m[1])
	}
	lines := slices.Collect(strings.Lines(text[opening[0][1]:closing[0][0]]))
	around := text[:opening[0][0]] + text[closing[0][1]:]
	return []block{{info, fence{}.content(lines), true}}, strings.TrimSpace(around) != ""
}

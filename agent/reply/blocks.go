package reply

import (
	"strings"

	"dsstar/notebook/lazy"
)

// A Block is a code block of a text. Its language is in small letters, "python" for all names of
// Python.
type Block struct{ Language, Code string }

// Blocks returns the closed code blocks of a text, in order.
func Blocks(text string) (all []Block) {
	for _, b := range codeBlocks(text) {
		if b.closed {
			all = append(all, b.Block)
		}
	}
	return all
}

type block struct {
	Block
	closed bool
}

var (
	// fenceLine opens or closes a block, in a list, too.
	fenceLine = lazy.Regexp("^([ \t]*(?:(?:[-*+]|\\d{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$")
	pythonTag = lazy.Regexp(`^(?:\{code-cell\}\s*)?[{.\s]*(?:i?python|py)(?:[23](?:\.\d+)?)?(?:$|[\s{}:,;])`)
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
	case m[3] == "" && strings.HasPrefix(m[2], f.marks) && strings.TrimSpace(m[1]) == "" &&
		len(m[1]) <= len(f.before)+3:
		return fence{}
	}
	return f
}

// codeBlocks returns the blocks of a text. The last one may be open.
func codeBlocks(text string) (all []block) {
	var open fence
	var lines []string
	for line := range strings.Lines(text) {
		next := open.after(line)
		switch {
		case open.isOpen() && !next.isOpen():
			all, lines = append(all, block{open.block(lines), true}), nil
		case open.isOpen():
			lines = append(lines, line)
		}
		open = next
	}
	if open.isOpen() {
		all = append(all, block{open.block(lines), false})
	}
	return all
}

// block returns the block of the lines within the fence, without the indent of a list item.
func (f fence) block(lines []string) Block {
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
	language, _, _ := strings.Cut(f.info, " ")
	if pythonTag().MatchString(f.info) {
		language = "python"
	}
	return Block{language, strings.TrimRight(strings.TrimLeft(b.String(), "\n"), " \t\n")}
}

package ask

import (
	"strings"

	"dsstar/notebook/lazy"
)

// A Block is a code block of a text. Its language is in small letters, "python" for all names of
// Python.
type Block struct{ Language, Code string }

// Blocks returns the closed code blocks of a text, in order.
func Blocks(text string) (all []Block) {
	for _, p := range pieces(text) {
		if p.closed {
			all = append(all, p.block())
		}
	}
	return all
}

// Prose returns the lines of a text that are in no code block.
func Prose(text string) (prose string) {
	for _, p := range pieces(text) {
		if !p.fence.isOpen() {
			prose += p.text
		}
	}
	return prose
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

// A piece of a text is a code block with the lines of its fences, or what stands between blocks.
type piece struct {
	fence  fence // not open: this is no code
	text   string
	closed bool
}

// pieces returns the pieces of a text; of the blocks the last one may not be closed.
func pieces(text string) (all []piece) {
	var open fence
	begin, at := 0, 0
	cut := func(end int, closed bool) {
		all = append(all, piece{open, text[begin:end], closed})
		begin = end
	}
	for line := range strings.Lines(text) {
		next := open.after(line)
		switch {
		case next.isOpen() && !open.isOpen():
			cut(at, false)
		case open.isOpen() && !next.isOpen():
			cut(at+len(line), true)
		}
		open = next
		at += len(line)
	}
	cut(at, false)
	return all
}

// codeBlocks returns the pieces that are code.
func codeBlocks(text string) (all []piece) {
	for _, p := range pieces(text) {
		if p.fence.isOpen() {
			all = append(all, p)
		}
	}
	return all
}

// block returns the block within the fences, without the indent of a list item.
func (p piece) block() Block {
	_, inner, _ := strings.Cut(p.text, "\n")
	if p.closed {
		inner = inner[:strings.LastIndex("\n"+strings.TrimSuffix(inner, "\n"), "\n")]
	}
	common := len(p.fence.before)
	for line := range strings.Lines(inner) {
		if indent := len(line) - len(strings.TrimLeft(line, " \t")); strings.TrimSpace(line) != "" {
			common = min(common, indent)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(inner) {
		if strings.TrimSpace(line) != "" {
			line = line[common:]
		}
		b.WriteString(line)
	}
	language, _, _ := strings.Cut(p.fence.info, " ")
	if pythonTag().MatchString(p.fence.info) {
		language = "python"
	}
	return Block{language, strings.TrimRight(strings.TrimLeft(b.String(), "\n"), " \t\n")}
}

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
			all = append(all, p.Block)
		}
	}
	return all
}

// Prose returns the lines of a text that are in no code block.
func Prose(text string) (prose string) {
	for _, p := range pieces(text) {
		if !p.isCode {
			prose += p.text
		}
	}
	return prose
}

var (
	// fenceLine opens or closes a block, in a list, too.
	fenceLine = lazy.Regexp("^([ \t]*(?:(?:[-*+]|\\d{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*\n?$")
	pythonTag = lazy.Regexp(`^(?:\{code-cell\}\s*)?[{.\s]*(?:i?python|py)(?:[23](?:\.\d+)?)?(?:$|[\s{}:,;])`)
)

// A piece of a text is a code block, or what stands between blocks.
type piece struct {
	Block
	text   string // with the lines of its fences
	isCode bool
	closed bool
}

// pieces returns the pieces of a text; of the blocks the last one may not be closed.
func pieces(text string) (all []piece) {
	var fence []string // of the open block: the line, what stands before the marks, these, and the language
	begin, at := 0, 0
	cut := func(end int, closed bool) {
		p := piece{text: text[begin:end], isCode: fence != nil, closed: closed}
		if p.isCode {
			p.Block = blockOf(p, fence)
		}
		all, begin = append(all, p), end
	}
	for line := range strings.Lines(text) {
		var m []string
		if strings.Contains(line, "```") || strings.Contains(line, "~~~") {
			m = fenceLine().FindStringSubmatch(line)
		}
		switch {
		case m == nil:
		case fence == nil:
			cut(at, false)
			fence = m
		case m[3] == "" && strings.HasPrefix(m[2], fence[2]) && strings.TrimSpace(m[1]) == "" &&
			len(m[1]) <= len(fence[1])+3:
			cut(at+len(line), true)
			fence = nil
		}
		at += len(line)
	}
	cut(at, false)
	return all
}

// blockOf returns the block within the fences of a piece, without the indent of a list item.
func blockOf(p piece, fence []string) Block {
	_, inner, _ := strings.Cut(p.text, "\n")
	if p.closed {
		inner = inner[:strings.LastIndex("\n"+strings.TrimSuffix(inner, "\n"), "\n")]
	}
	var b strings.Builder
	for line := range strings.Lines(inner) {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		b.WriteString(line[min(indent, len(fence[1])):])
	}
	language, _, _ := strings.Cut(strings.ToLower(fence[3]), " ")
	if pythonTag().MatchString(strings.ToLower(fence[3])) {
		language = "python"
	}
	return Block{language, strings.TrimRight(strings.TrimLeft(b.String(), "\n"), " \t\n")}
}

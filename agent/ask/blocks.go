package ask

import (
	"errors"
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

// A Block is a code block of a text, of which the last one may not be closed, or what stands between.
// Its language is in small letters, "python" for all names of Python.
type Block struct {
	Language, Code string
	text           string // with the lines of its fences
	isCode         bool
}

// Blocks returns the code blocks of a text, in order.
func Blocks(text string) []Block {
	return slices.DeleteFunc(pieces(text), func(p Block) bool { return !p.isCode })
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
	fenceLine = lazy.Regexp("(?m)^([ \t]*(?:(?:[-*+]|\\d{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*$")
	pythonTag = lazy.Regexp(`(?i)^(?:\{code-cell\}\s*)?[{.\s]*(?:i?python|py)(?:[23](?:\.\d+)?)?(?:$|[\s{}:,;])`)
)

// pieces returns the code blocks of a text and what stands between, in order.
func pieces(text string) (all []Block) {
	begin, open := 0, []string(nil) // line, what stands before the marks, these, language of a fence
	for _, at := range fenceLine().FindAllStringSubmatchIndex(text, -1) {
		line := []string{text[at[0]:at[1]], text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]}
		switch {
		case open == nil:
			all = append(all, Block{text: text[begin:at[0]]})
			begin, open = at[0], line
		case line[3] == "" && strings.HasPrefix(line[2], open[2]) && strings.TrimSpace(line[1]) == "" &&
			len(line[1]) <= len(open[1])+3:
			all = append(all, blockOf(open, text[begin:at[0]], text[at[0]:at[1]]))
			begin, open = at[1], nil
		}
	}
	if open == nil {
		return append(all, Block{text: text[begin:]})
	}
	return append(all, blockOf(open, text[begin:], ""))
}

// blockOf returns the block of a text, which begins with the line of a fence, without the indent of a
// list item.
func blockOf(fence []string, text, end string) Block {
	var code strings.Builder
	for line := range strings.Lines(text[len(fence[0]):]) {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		code.WriteString(line[min(indent, len(fence[1])):])
	}
	language, _, _ := strings.Cut(strings.ToLower(fence[3]), " ")
	if pythonTag().MatchString(fence[3]) {
		language = "python"
	}
	bare := strings.TrimRight(strings.TrimLeft(code.String(), "\n"), " \t\n")
	return Block{language, bare, text + end, true}
}

var errNoCode = errors.New("it has no code block")

// codeOf returns the code of a text that has blocks of it, in Python or else without a language. Of
// several blocks one is the whole if it has the others in it: models show excerpts, too.
func codeOf(text string) (string, error) {
	blocks := Blocks(text)
	for _, language := range []string{"python", ""} {
		var all []string
		for _, p := range blocks {
			if p.Language == language && p.Code != "" {
				all = append(all, p.Code)
			}
		}
		for _, whole := range all {
			if !slices.ContainsFunc(all, func(part string) bool { return !strings.Contains(whole, part) }) {
				return whole, nil
			}
		}
		if all != nil {
			return "", errors.New("it has several code blocks, and none is the whole")
		}
	}
	return "", errNoCode
}

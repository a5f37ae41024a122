package agent

import "strings"

// Visible is a reply without the thoughts that some models send before it, in tags.
func Visible(reply string) (string, error) { return visible(reply) }

// ParseCode returns the one Python code block of a text, as [Run] reads it.
func ParseCode(text string) (string, error) { return codeIn(text) }

// A Block is a code block of a text.
type Block struct{ Language, Code string }

// Blocks returns the code blocks of a text, in order, that are closed.
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

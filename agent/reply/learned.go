package reply

import (
	"errors"
	"strings"

	"dsstar/agent/memory"
)

// Learned reads facts and functions for the memory of the data; none of either is an answer, too.
var Learned = Format[*memory.Memory]{
	Rule: "Reply with facts as lines `- fact — source: where it stands` and one ```python block for " +
		"each function with its imports and cases, or with the word none.",
	Parse: func(text string) (*memory.Memory, error) {
		var code []string
		for _, b := range Blocks(text) {
			code = append(code, b.Code)
		}
		m := memory.Propose(outsideBlocks(text), code)
		if len(m.Facts)+len(m.Tools)+len(m.Problems) == 0 && !isNothing(text) &&
			!strings.Contains(strings.ToLower(text), "none") {
			return nil, errNothingLearned
		}
		return m, nil
	},
}

var errNothingLearned = errors.New("it has neither facts nor functions")

// outsideBlocks returns the lines of a text that are in no code block.
func outsideBlocks(text string) string {
	var open fence
	var b strings.Builder
	for line := range strings.Lines(text) {
		next := open.after(line)
		if !open.isOpen() && !next.isOpen() {
			b.WriteString(line)
		}
		open = next
	}
	return b.String()
}

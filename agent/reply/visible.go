package reply

import (
	"strings"

	"dsstar/notebook/lazy"
)

var thoughtTag = lazy.Regexp(`(?i)<(/?)(?:think|thinking|thought|thoughts|reasoning)>|\[(/?)THINK\]`)

// Visible returns a reply without the thoughts that some models send in tags before it. The
// result is never empty; an empty fence counts as empty.
func Visible(reply string) (string, error) {
	if len(reply) > longestReply {
		return "", errLong
	}
	text := strings.ReplaceAll(strings.TrimPrefix(reply, "\ufeff"), "\r\n", "\n")
	text = withoutThoughts(text)
	if strings.Trim(text, "`~ \t\n") == "" {
		return "", errEmpty
	}
	return strings.Trim(strings.TrimRight(text, " \t\n"), "\n"), nil
}

// withoutThoughts removes thoughts at the beginning, also those whose opening tag was not sent. Tags
// after the first words of the reply belong to it.
func withoutThoughts(text string) string {
	start, thinking := 0, false // start: of what is no thought
	for _, m := range thoughtTag().FindAllStringSubmatchIndex(text, -1) {
		closing := m[2] != m[3] || m[4] != m[5]
		switch {
		case closing && (thinking || start == 0):
			start, thinking = m[1], false
		case thinking:
		case closing, strings.TrimSpace(text[start:m[0]]) != "":
			return text[start:]
		default:
			thinking = true
		}
	}
	if thinking {
		return "" // nothing but thoughts
	}
	return text[start:]
}

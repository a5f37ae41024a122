package ask

import (
	"encoding/json"
	"fmt"
	"strings"

	"dsstar/notebook/lazy"
)

// repaired returns the JSON object that a text begins with, and its length there; "" if it does not
// end. Small models leave line breaks, quotes and backslashes in strings as they are, and write commas
// before brackets. General repairers do not serve for code: they complete what was cut off, and drop
// backslashes.
func repaired(text string) (object string, length int) {
	var b strings.Builder
	depth, inside := 0, false // a string
	for i := 0; i < len(text); i++ {
		c, next := text[i], strings.TrimLeft(text[i+1:], " \t\r\n")
		follows := func(bytes string) bool { return next != "" && strings.IndexByte(bytes, next[0]) >= 0 }
		switch {
		case inside && c == '\\' && i+1 < len(text) && strings.IndexByte(`"\/bfnrtu`, text[i+1]) >= 0:
			i++
			b.WriteByte(c)
			c = text[i]
		case inside && (c == '\\' || c == '"' && !follows(",:]}")):
			b.WriteByte('\\')
		case inside && c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && follows("]}"):
			continue
		}
		b.WriteByte(c)
		if depth == 0 {
			return b.String(), i + 1
		}
	}
	return "", 0
}

var lastText = lazy.Regexp(`(?s)^.*:\s*"((?:[^"\\]|\\.)*)`)

// SoFar returns what is worth showing of a reply that is still coming: of a JSON object the text that
// came last, of any other all of it.
func SoFar(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, "`json \t\n"), "{") {
		return text
	}
	m, shown := lastText().FindStringSubmatch(text), ""
	if m != nil && json.Unmarshal([]byte(`"`+m[1]+`"`), &shown) != nil {
		return m[1]
	}
	return shown
}

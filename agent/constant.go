package agent

import (
	"regexp"
	"strings"
)

var (
	identifier = regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_]*`)
	assigned   = regexp.MustCompile(`(?m)(?:^|[\s(,;])([\p{L}_][\p{L}\p{N}_]*)\s*(?:,\s*[\p{L}_][\p{L}\p{N}_]*\s*)*(?::[^=\n]+)?[-+*/%&|@]?=[^=]|\bfor\s+([\p{L}_][\p{L}\p{N}_]*)|\bdef\s+([\p{L}_][\p{L}\p{N}_]*)|\bas\s+([\p{L}_][\p{L}\p{N}_]*)|,\s*([\p{L}_][\p{L}\p{N}_]*)\s*(?:,[^=\n]*)?=[^=]`)
)

// usesResults reports whether a last cell draws on anything that was computed:
// it names a variable of an earlier cell, or reads the data itself. A cell that
// does neither can only print a constant that the model made up or copied.
func usesResults(last, earlier string) bool {
	code := withoutStrings(last)
	if strings.Contains(last, "data/") && code != last {
		return true
	}
	known := map[string]bool{}
	for _, m := range assigned.FindAllStringSubmatch(withoutStrings(earlier), -1) {
		for _, name := range m[1:] {
			if name != "" {
				known[name] = true
			}
		}
	}
	for _, name := range identifier.FindAllString(code, -1) {
		if known[name] {
			return true
		}
	}
	return false
}

// pyString literals and comments; an f-string's braces hold code and are kept.
var literal = regexp.MustCompile(`(?s)([fFrRbBuU]{0,2})("""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|#[^\n]*`)

var replacement = regexp.MustCompile(`\{([^{}]*)\}`)

// withoutStrings blanks string literals and comments, but keeps the code that
// stands in the braces of f-strings.
func withoutStrings(code string) string {
	return literal.ReplaceAllStringFunc(code, func(s string) string {
		m := literal.FindStringSubmatch(s)
		if !strings.ContainsAny(m[1], "fF") {
			return `""`
		}
		var b strings.Builder
		for _, inner := range replacement.FindAllStringSubmatch(m[2], -1) {
			b.WriteString(" " + inner[1] + " ")
		}
		return b.String()
	})
}

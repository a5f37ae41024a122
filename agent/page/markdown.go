package page

import (
	"strings"

	"dsstar/agent/brief"
)

// JupyterLab takes even an escaped dollar or backslash for mathematics, unless it is alone in an
// element.
const plainDollar, plainBackslash = "<span>&#36;</span>", "<span>&#92;</span>"

// special escapes Markdown, mathematics and HTML.
var special = strings.NewReplacer(`\`, plainBackslash, "$", plainDollar, "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;")

// prose escapes text for one Markdown paragraph. What stands between single backticks stays code.
func prose(text string) string {
	text = brief.OneLine(text)
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 || strings.Contains(text, "``") {
		return special.Replace(text)
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = special.Replace(parts[i])
	}
	return strings.Join(parts, "`")
}

// Prose escapes text for Markdown, line by line.
func Prose(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = prose(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n\n")
}

var plainHTML = strings.NewReplacer(`\`, plainBackslash, "$", plainDollar, "<", "&lt;", ">", "&gt;",
	"&", "&amp;", `"`, "&#34;", "'", "&#39;", "`", "&#96;")

// inHTML escapes text for one line of raw HTML in a Markdown cell.
func inHTML(text string) string { return plainHTML.Replace(brief.OneLine(text)) }

// titleChars is the size of the longest title, in bytes.
const titleChars = 100

// title returns a text in one line, cut between words if it is long.
func title(text string) string {
	if text = brief.OneLine(text); len(text) <= titleChars {
		return text
	}
	return strings.TrimSpace(text[:max(0, strings.LastIndexByte(text[:titleChars], ' '))] + " …")
}

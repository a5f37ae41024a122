package page

import (
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// JupyterLab takes even an escaped dollar or backslash for mathematics, unless it is alone in an
// element.
const plainDollar, plainBackslash = "<span>&#36;</span>", "<span>&#92;</span>"

// special escapes Markdown, mathematics and HTML.
var special = strings.NewReplacer(`\`, plainBackslash, "$", plainDollar, "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;")

var backticks = lazy.Regexp("`+")

// prose escapes text for one Markdown paragraph. Code spans, between two runs of equally many
// backticks, stay code.
func prose(text string) string {
	text = brief.OneLine(text)
	runs := backticks().FindAllStringIndex(text, -1)
	var b strings.Builder
	at := 0
	for len(runs) > 0 {
		open := runs[0]
		runs = runs[1:]
		end := slices.IndexFunc(runs, func(r []int) bool { return r[1]-r[0] == open[1]-open[0] })
		if end >= 0 {
			b.WriteString(special.Replace(text[at:open[0]]) + text[open[0]:runs[end][1]])
			at, runs = runs[end][1], runs[end+1:]
		}
	}
	return b.String() + special.Replace(text[at:])
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

package page

import (
	"slices"
	"strings"
	"unicode"

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

// Titles are at most this long, in bytes.
const titleChars, stepTitleChars = 160, 60

// asks matches the first sentence of a line that asks.
var asks = lazy.Regexp(`(?:^|[.?!] )((?:[^.?!]|[.?!]+[^ .?!])*[.?!]*\?)(?: |$)`)

// questionTitle returns the sentence of a text that asks, cut if it is long.
func questionTitle(text string) string {
	text = brief.OneLine(text)
	if len(text) > titleChars {
		if found := asks().FindStringSubmatch(text); found != nil {
			text = found[1]
		}
	}
	title, _ := headed(text, titleChars)
	return title
}

// headed splits a text into a heading and the rest. The heading is the first sentence; or as much
// of the text as fits, up to a mark of punctuation if there is one, and then the rest is the whole
// text.
func headed(text string, most int) (title, body string) {
	if len(text) <= most {
		return text, ""
	}
	if end := strings.Index(text[:most], ". "); end > 0 {
		return text[:end+1], text[end+2:]
	}
	end := strings.LastIndexAny(text[:most], ",;:(")
	if end < most/2 {
		end = strings.LastIndexByte(text[:most], ' ')
	}
	if end < most/3 {
		return "…", text
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace) + " …", text
}

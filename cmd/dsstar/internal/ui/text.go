package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width returns the columns that clean text takes.
func Width(text string) int { return displaywidth.String(text) }

// Cut shortens a clean line to the columns, with … for what is left out.
func Cut(line string, columns int) string {
	if columns < 1 {
		return ""
	}
	return displaywidth.TruncateString(line, columns, "…")
}

// Split splits text at the column, after at least one character.
func Split(text string, columns int) (head, rest string) {
	head = displaywidth.TruncateString(text, columns, "")
	if head == "" {
		_, n := utf8.DecodeRuneInString(text)
		head = text[:n]
	}
	return head, text[len(head):]
}

// Fit puts a text on one line of the given number of columns.
func Fit(line string, columns int) string {
	line = strings.Join(strings.Fields(line), " ")
	if columns < 2 {
		return line
	}
	return Cut(line, columns)
}

// Margin is the width of the label at the beginning of a line.
const Margin = 9

// Wrap wraps a clean line between words, indents continuation lines by Margin, and truncates after
// most lines. A longer word, such as a path, stays whole: the terminal wraps it, and in narrow ones
// all of the line.
func Wrap(line string, columns, most int) (rows []string) {
	if len(line) <= Margin || columns < 3*Margin || Width(line[:Margin]) != Margin {
		return []string{Cut(line, max(columns, 1)*most)}
	}
	row := line[:Margin]
	for word := range strings.FieldsSeq(line[Margin:]) {
		word = Cut(word, columns*most)
		switch {
		case len(row) == Margin:
			row += word
		case Width(row)+1+Width(word) <= columns:
			row += " " + word
		default:
			rows, row = append(rows, row), strings.Repeat(" ", Margin)+word
		}
	}
	if rows = append(rows, row); len(rows) > most {
		rows = rows[:most]
		rows[most-1] = Cut(rows[most-1], columns-2) + " …"
	}
	return rows
}

// tailBytes is how much of the end of a text lastLines looks at.
const tailBytes = 8 << 10

// lastLines returns the last lines of a text as a terminal would show them, clean: a carriage
// return overwrites its line. Empty lines and Markdown fences are left out.
func lastLines(text string, n int) (lines []string) {
	text = strings.ToValidUTF8(text[max(0, len(text)-tailBytes):], "")
	text = strings.ReplaceAll(new(Cleaner).Text(text), "\t", "    ")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		line = Clean(line[strings.LastIndexByte(line, '\r')+1:])
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "```") {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):]
}

// A Style is how a terminal shows text. It never carries information that the text lacks.
type Style string

const (
	Normal Style = ""
	Faint  Style = "2"
	Strong Style = "1"
	Good   Style = "32"
	Doubt  Style = "33"
	Bad    Style = "31"
)

// Paint returns the text with the escape sequences of the style, if there are colours.
func (s Style) Paint(text string, colours bool) string {
	if s == Normal || !colours || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

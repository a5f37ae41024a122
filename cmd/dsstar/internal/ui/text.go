package ui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width returns the columns that clean text takes. Terminals disagree about grapheme clusters
// such as emoji with a skin tone; Width returns the maximum, so that no line is too long.
func Width(text string) int {
	columns := 0
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		columns += clusterWidth(g.Value(), g.Width())
	}
	return columns
}

func clusterWidth(cluster string, whole int) int {
	if len(cluster) == 1 {
		return whole
	}
	apart := 0
	for _, r := range cluster {
		apart += displaywidth.Rune(r)
	}
	return max(whole, apart)
}

// Cut shortens a clean line to the columns, with … for what is left out.
func Cut(line string, columns int) string {
	if len(line) <= columns { // a character has at least as many bytes as columns
		return line
	}
	if columns < 1 {
		return ""
	}
	fits, end, total := 0, 0, 0 // fits: the length that leaves room for the …
	for g := displaywidth.StringGraphemes(line); g.Next(); {
		total += clusterWidth(g.Value(), g.Width())
		if total > columns {
			return line[:fits] + "…"
		}
		if end += len(g.Value()); total < columns {
			fits = end
		}
	}
	return line
}

// Split splits text at the column, after at least one character.
func Split(text string, columns int) (head, rest string) {
	end, total := 0, 0
	for g := displaywidth.StringGraphemes(text); g.Next(); end += len(g.Value()) {
		if total += clusterWidth(g.Value(), g.Width()); total > columns && end > 0 {
			return text[:end], text[end:]
		}
	}
	return text, ""
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
// most lines. A longer word, such as a path, stays whole: the terminal wraps it. In narrow terminals
// Wrap breaks at the last column.
func Wrap(line string, columns, most int) []string {
	var lines []string
	if len(line) <= Margin || columns < 3*Margin || Width(line[:Margin]) != Margin {
		for columns > 1 && Width(line) > columns && len(lines) < most-1 {
			var head string
			head, line = Split(line, columns)
			lines = append(lines, head)
		}
		return append(lines, Cut(line, max(columns, 1)))
	}
	indent := strings.Repeat(" ", Margin)
	row, used := line[:Margin], 0
	next := func() {
		lines = append(lines, row)
		row, used = indent, 0
	}
	for word := range strings.FieldsSeq(line[Margin:]) {
		if used > 0 && used+1+Width(word) <= columns-Margin {
			row, used = row+" "+word, used+1+Width(word)
			continue
		}
		if used > 0 {
			next()
		}
		word = Cut(word, columns*most)
		row, used = row+word, Width(word)
	}
	if lines = append(lines, row); len(lines) > most {
		lines = lines[:most]
		lines[most-1] = Cut(lines[most-1], columns-2) + " …"
	}
	return lines
}

// MaxMarks is the maximum number of combining marks on a character; more would cover the lines
// around it.
const MaxMarks = 3

// Clean returns text on one line without control characters, changes of the writing direction
// and invisible characters. Most of what is shown comes from models, files and cells, and is
// not trusted.
func Clean(text string) string {
	c, marks := Cleaner{}, 0
	return strings.Map(func(r rune) rune {
		if !unicode.Is(unicode.M, r) {
			marks = 0
		} else if marks++; marks > MaxMarks {
			return -1
		}
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, c.Text(text))
}

// WithoutControls removes control characters from text and keeps its layout.
func WithoutControls(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, line)
}

// TailBytes is how much of the end of a text LastLines looks at.
const TailBytes = 8 << 10

// LastLines returns the last lines of a text as a terminal would show them, clean: a carriage
// return overwrites its line. Empty lines and Markdown fences are left out.
func LastLines(text string, n int) []string {
	if len(text) > TailBytes {
		text = text[len(text)-TailBytes:]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	c := Cleaner{}
	all := strings.Split(strings.ReplaceAll(c.Text(text), "\t", "    "), "\n")
	var lines []string
	for i := len(all) - 1; i >= 0 && len(lines) < n; i-- {
		line := strings.TrimRight(all[i], "\r")
		line = Clean(line[strings.LastIndexByte(line, '\r')+1:])
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "```") {
			lines = append([]string{line}, lines...)
		}
	}
	return lines
}

// Printable quotes a name with unprintable characters.
func Printable(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsFunc(name,
		func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return quoted
	}
	return name
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

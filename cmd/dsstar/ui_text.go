package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// width returns the columns that clean text takes. Terminals do not agree about
// characters that are made of several, such as emoji with a skin tone: it is then
// the most that any of them needs, so that a line never turns out too long.
func width(text string) int {
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

// cut shortens a clean line to the columns, with … for what is left out.
func cut(line string, columns int) string {
	if len(line) <= columns { // no character takes more columns than bytes
		return line
	}
	if columns < 1 {
		return ""
	}
	fits, end, total := 0, 0, 0 // fits: how much leaves room for the …
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

// split divides text where the columns end, after one character at least.
func split(text string, columns int) (head, rest string) {
	end, total := 0, 0
	for g := displaywidth.StringGraphemes(text); g.Next(); end += len(g.Value()) {
		if total += clusterWidth(g.Value(), g.Width()); total > columns && end > 0 {
			return text[:end], text[end:]
		}
	}
	return text, ""
}

// fit puts a text on one line of the given number of columns.
func fit(line string, columns int) string {
	line = strings.Join(strings.Fields(line), " ")
	if columns < 2 {
		return line
	}
	return cut(line, columns)
}

// margin is the width of the word that a line of progress begins with.
const margin = 9

// wrap breaks a clean line between words, with its further lines below its text,
// and leaves out what is more than most lines. Where there is no room for that,
// it breaks it where the columns end.
func wrap(line string, columns, most int) []string {
	var lines []string
	if len(line) <= margin || columns < 3*margin || width(line[:margin]) != margin {
		for columns > 1 && width(line) > columns && len(lines) < most-1 {
			var head string
			head, line = split(line, columns)
			lines = append(lines, head)
		}
		return append(lines, cut(line, max(columns, 1)))
	}
	indent := strings.Repeat(" ", margin)
	row, used := line[:margin], 0
	next := func() {
		lines = append(lines, row)
		row, used = indent, 0
	}
	for word := range strings.FieldsSeq(line[margin:]) {
		if used > 0 && used+1+width(word) <= columns-margin {
			row, used = row+" "+word, used+1+width(word)
			continue
		}
		if used > 0 {
			next()
		}
		for width(word) > columns-margin && len(lines) < most {
			var head string
			head, word = split(word, columns-margin)
			row += head
			next()
		}
		row, used = row+word, width(word)
	}
	if lines = append(lines, row); len(lines) > most {
		lines = lines[:most]
		lines[most-1] = cut(lines[most-1], columns-2) + " …"
	}
	return lines
}

// maxMarks is how many marks, such as accents, a character may bear: with more
// it covers the lines around it.
const maxMarks = 3

// clean is text on one line in which nothing is left that a terminal obeys, that
// turns the direction of writing, or that cannot be seen. Most of what is shown
// comes from strangers: models, files, what cells print.
func clean(text string) string {
	c, marks := cleaner{}, 0
	return strings.Map(func(r rune) rune {
		if !unicode.Is(unicode.M, r) {
			marks = 0
		} else if marks++; marks > maxMarks {
			return -1
		}
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, c.text(text))
}

// withoutControls is a line in which a terminal finds nothing to obey; what it
// shows stands where it stood.
func withoutControls(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, line)
}

// tailBytes is how much of a text's end is looked at for its last lines.
const tailBytes = 8 << 10

// lastLines returns the last lines of a text as they stand on a terminal, clean:
// a carriage return begins its line anew. Empty lines and Markdown's fences are
// left out.
func lastLines(text string, n int) []string {
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	c := cleaner{}
	all := strings.Split(strings.ReplaceAll(c.text(text), "\t", "    "), "\n")
	var lines []string
	for i := len(all) - 1; i >= 0 && len(lines) < n; i-- {
		line := strings.TrimRight(all[i], "\r")
		line = clean(line[strings.LastIndexByte(line, '\r')+1:])
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "```") {
			lines = append([]string{line}, lines...)
		}
	}
	return lines
}

// printable quotes a name that would break a line.
func printable(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return quoted
	}
	return name
}

// A style is how a terminal shows text; it never says what the text does not.
type style string

const (
	normal style = ""
	faint  style = "2"
	strong style = "1"
	good   style = "32"
	doubt  style = "33"
	bad    style = "31"
)

// paint returns the text in the style, if there are to be colours.
func (s style) paint(text string, colours bool) string {
	if s == normal || !colours || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

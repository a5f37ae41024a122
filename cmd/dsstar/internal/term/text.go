package term

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width returns the columns that clean text takes. Terminals do not agree about
// characters that are made of several, such as emoji with a skin tone: it is then
// the most that any of them needs, so that a line never turns out too long.
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

// Split divides text where the columns end, after one character at least.
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

// Margin is the width of the word that a line of progress begins with.
const Margin = 9

// Wrap breaks a clean line between words, with its further lines below its text,
// and leaves out what is more than most lines. Where there is no room for that,
// it breaks it where the columns end.
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
		for Width(word) > columns-Margin && len(lines) < most {
			var head string
			head, word = Split(word, columns-Margin)
			row += head
			next()
		}
		row, used = row+word, Width(word)
	}
	if lines = append(lines, row); len(lines) > most {
		lines = lines[:most]
		lines[most-1] = Cut(lines[most-1], columns-2) + " …"
	}
	return lines
}

// MaxMarks is how many marks, such as accents, a character may bear: with more
// it covers the lines around it.
const MaxMarks = 3

// Clean is text on one line in which nothing is left that a terminal obeys, that
// Turns the direction of writing, or that cannot be seen. Most of what is shown
// comes from strangers: models, files, what cells print.
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

// WithoutControls is a line in which a terminal finds nothing to obey; what it
// shows stands where it stood.
func WithoutControls(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, line)
}

// TailBytes is how much of a text's end is looked at for its last lines.
const TailBytes = 8 << 10

// LastLines returns the last lines of a text as they stand on a terminal, clean:
// a carriage return begins its line anew. Empty lines and Markdown's fences are
// left out.
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

// Printable quotes a name that would break a line.
func Printable(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return quoted
	}
	return name
}

// A Style is how a terminal shows text; it never says what the text does not.
type Style string

const (
	Normal Style = ""
	Faint  Style = "2"
	Strong Style = "1"
	Good   Style = "32"
	Doubt  Style = "33"
	Bad    Style = "31"
)

// Paint returns the text in the Style, if there are to be colours.
func (s Style) Paint(text string, colours bool) string {
	if s == Normal || !colours || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

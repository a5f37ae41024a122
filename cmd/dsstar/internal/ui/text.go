package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
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

// A Cleaner removes escape sequences and control characters from a stream of text, except those
// that its fields allow.
type Cleaner struct {
	Colours bool // keep colours
	Moves   bool // keep the cursor movements of a Screen
	Still   bool // remove carriage returns and backspaces
	state   cleanState
	params  []rune // of the current sequence
}

type cleanState int

const (
	plain    cleanState = iota
	escape              // after ESC
	sequence            // after ESC [
	command             // after ESC ] and the like: text until BEL or ESC \
)

// Text returns what is left of a piece of the stream. Escape sequences may span pieces.
func (c *Cleaner) Text(piece string) string {
	var b strings.Builder
	for _, r := range piece {
		c.add(&b, r)
	}
	return b.String()
}

func (c *Cleaner) add(b *strings.Builder, r rune) {
	switch {
	case r == 0x1b:
		c.state, c.params = escape, c.params[:0]
	case c.state == escape && r == '[' || c.state == plain && r == 0x9b:
		c.state, c.params = sequence, c.params[:0]
	case c.state == escape && strings.ContainsRune("]PX^_", r) ||
		c.state == plain && (r == 0x90 || r == 0x98 || 0x9d <= r && r <= 0x9f):
		c.state = command
	case c.state == escape && ' ' <= r && r <= '/': // an intermediate byte
	case c.state == escape:
		c.state = plain
	case c.state == command:
		if r == 7 || r == 0x9c || r == '\n' {
			c.state = plain
		}
	case c.state == sequence:
		c.param(b, r)
	case r == '\r' || r == '\b':
		if !c.Still {
			b.WriteRune(r)
		}
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f || r >= 0xa0 && !Turns(r):
		b.WriteRune(r)
	}
}

// param processes a character of a sequence.
func (c *Cleaner) param(b *strings.Builder, r rune) {
	if r >= ' ' && r <= '?' && len(c.params) < 64 {
		c.params = append(c.params, r)
		return
	}
	c.state = plain
	params := string(c.params)
	if r == 'm' && c.Colours && strings.Trim(params, "0123456789;:") == "" {
		b.WriteString("\x1b[" + params + "m")
	}
	if (r == 'A' || r == 'J' || r == 'K') && c.Moves && strings.Trim(params, "0123456789") == "" {
		b.WriteString("\x1b[" + params + string(r))
	}
}

// Turns reports whether a character is invisible and may change its surroundings, such as the
// writing direction. Joiners are allowed: they belong to words and emoji. Tags are not: they
// can hide whole sentences, and only some flags need them.
func Turns(r rune) bool {
	switch {
	case r == '\u200b', r == '\ufeff', '\u2060' <= r && r <= '\u206f', '\ufff9' <= r &&
		r <= '\ufffb', '\U000e0000' <= r && r <= '\U000e007f':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
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

// Printable quotes a name with unprintable characters.
func Printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return strconv.Quote(name)
	}
	return name
}

// A Writer filters escape sequences and control characters out of text, except those that C allows.
// It also does so for pipes and files, which often end up on a terminal (tee, less, cat). It may be
// used concurrently.
type Writer struct {
	W io.Writer
	C Cleaner // what it lets through

	mu   sync.Mutex
	rest []byte // an incomplete character
}

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, p...)
	whole := len(text)
	for i := max(0, len(text)-utf8.UTFMax); i < len(text); i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
		}
	}
	_, err := io.WriteString(w.W, w.C.Text(string(text[:whole])))
	w.rest = append([]byte(nil), text[whole:]...)
	return len(p), err
}

// Unwrapped returns the destination of a Writer, or w.
func Unwrapped(w io.Writer) io.Writer {
	if c, ok := w.(*Writer); ok {
		return c.W
	}
	return w
}

// JSON writes a value as JSON. Control characters are escaped, so that a terminal does not
// obey them and the value is unchanged.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	if err == nil {
		_, err = io.WriteString(w, EscapeControls(b.String()))
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// EscapeControls escapes the control characters of a JSON text that encoding/json does not; they
// occur in strings only.
func EscapeControls(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || !unicode.IsControl(r) && !Turns(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

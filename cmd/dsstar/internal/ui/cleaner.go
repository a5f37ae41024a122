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
)

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

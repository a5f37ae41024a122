package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

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

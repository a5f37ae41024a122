package ui

import (
	"io"
	"sync"
	"unicode"
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

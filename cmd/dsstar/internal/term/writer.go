package term

import (
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Writer writes text in which a terminal finds nothing to obey but, on stderr, the
// colours and the movements of dsstar's own view. Answers, names and errors come from
// strangers, and a pipe often ends at a terminal after all (tee, less, cat of the file), so
// it does not ask whether there is one. It may be used concurrently.
type Writer struct {
	W io.Writer
	C Cleaner // what it lets through

	mu   sync.Mutex
	rest []byte // the beginning of a character
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

// Unwrapped is the file or the like that w writes to.
func Unwrapped(w io.Writer) io.Writer {
	if c, ok := w.(*Writer); ok {
		return c.W
	}
	return w
}

// Turns reports whether a character cannot be seen and may change how those around it are:
// the direction of writing, for one. Joiners belong to words and emoji. Tags can hide whole
// sentences; without them the few flags that they make are plain black ones.
func Turns(r rune) bool {
	switch {
	case r == '\u200b', r == '\ufeff', '\u2060' <= r && r <= '\u206f', '\ufff9' <= r && r <= '\ufffb', '\U000e0000' <= r && r <= '\U000e007f':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

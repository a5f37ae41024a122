package main

import (
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A cleanWriter writes text in which a terminal finds nothing to obey but, on stderr, the
// colours and the movements of dsstar's own view. Answers, names and errors come from
// strangers, and a pipe often ends at a terminal after all (tee, less, cat of the file), so
// it does not ask whether there is one. It may be used concurrently.
type cleanWriter struct {
	w io.Writer

	mu   sync.Mutex
	c    cleaner
	rest []byte // the beginning of a character
}

func (w *cleanWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, p...)
	whole := len(text)
	for i := max(0, len(text)-utf8.UTFMax); i < len(text); i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
		}
	}
	_, err := io.WriteString(w.w, w.c.text(string(text[:whole])))
	w.rest = append([]byte(nil), text[whole:]...)
	return len(p), err
}

// cleaned has all that is printed go through a cleanWriter from now on.
func (a *app) cleaned() {
	a.stdout = &cleanWriter{w: unwrapped(a.stdout), c: cleaner{still: true}}
	a.stderr = &cleanWriter{w: unwrapped(a.stderr), c: cleaner{colours: true, moves: true}}
}

// unwrapped is the file or the like that w writes to.
func unwrapped(w io.Writer) io.Writer {
	if c, ok := w.(*cleanWriter); ok {
		return c.w
	}
	return w
}

// fileOut is where a file goes that -o - asks for: byte for byte, unless that is a terminal.
func (a *app) fileOut() io.Writer {
	if a.stdoutTTY {
		return a.stdout
	}
	return unwrapped(a.stdout)
}

// turns reports whether a character cannot be seen and may change how those around it are:
// the direction of writing, for one. Joiners belong to words and emoji. Tags can hide whole
// sentences; without them the few flags that they make are plain black ones.
func turns(r rune) bool {
	switch {
	case r == '\u200b', r == '\ufeff', '\u2060' <= r && r <= '\u206f', '\ufff9' <= r && r <= '\ufffb', '\U000e0000' <= r && r <= '\U000e007f':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dsstar/notebook"
)

// A transcript shows on stderr, as they run, the cells and what they put out.
type transcript struct {
	w       *lazyWriter
	quiet   bool
	colours bool
	width   func() int

	clean  cleaner
	broken bool // the line is not ended
	count  int  // of the cell that is shown
	raises bool // its exceptions are expected
	held   []notebook.Output
	seen   map[string]bool // display ids
}

func (a *app) newTranscript(quiet bool) *transcript {
	t := &transcript{w: newLazyWriter(a.stderr), quiet: quiet, width: func() int { return 100 }, seen: map[string]bool{}}
	t.colours = a.stderrTTY && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
	if a.stderrTTY {
		t.width = a.width
	}
	t.clean.colours = t.colours
	return t
}

// cell begins a cell.
func (t *transcript) cell(count int, source string, mayRaise bool) {
	t.count, t.raises, t.held = count, mayRaise, nil
	t.clean = cleaner{colours: t.colours}
	t.say("%s", fit(fmt.Sprintf("In [%d]: %s", count, firstLine(source)), t.width()-1))
}

// say writes a line of our own.
func (t *transcript) say(format string, args ...any) {
	if !t.quiet {
		t.line(fmt.Sprintf(format, args...))
	}
}

// line writes text that is clean, and ends the line.
func (t *transcript) line(text string) {
	t.endLine()
	t.put(text)
	t.endLine()
}

func (t *transcript) put(text string) {
	if text != "" {
		t.w.write(text)
		t.broken = !strings.HasSuffix(text, "\n")
	}
}

// endLine ends the line and the colours.
func (t *transcript) endLine() {
	if t.clean.coloured {
		t.w.write("\x1b[0m")
		t.clean.coloured = false
	}
	if t.broken {
		t.w.write("\n")
		t.broken = false
	}
}

// output shows one piece of output. Exceptions that end the run are shown by
// failure.
func (t *transcript) output(o notebook.Output) {
	switch {
	case o.Type == notebook.ErrorOutput && !t.raises:
		t.held = append(t.held, o)
	case t.quiet:
	case o.Type == notebook.Stream:
		t.put(t.clean.text(o.Text))
	case o.Type == notebook.ErrorOutput:
		t.traceback(o)
	case o.DisplayID != "" && t.seen[o.DisplayID]: // a new state of a progress bar, mostly
	default:
		t.seen[o.DisplayID] = true
		label := ""
		if o.Type == notebook.ExecuteResult {
			label = fmt.Sprintf("Out[%d]: ", o.ExecutionCount)
		}
		text := shown(o.Data)
		if label != "" && strings.Contains(text, "\n") {
			label = strings.TrimSpace(label) + "\n"
		}
		t.endLine()
		t.put(label + t.clean.text(text))
		t.endLine()
	}
}

// late shows what came after its cell had ended.
func (t *transcript) late(outputs []notebook.Output) {
	expected := t.raises
	t.raises = true // these end nothing
	for _, o := range outputs {
		t.output(o)
	}
	t.raises = expected
}

// end ends a cell that ran well enough.
func (t *transcript) end(x notebook.Execution) {
	if t.quiet {
		return
	}
	for _, o := range t.held { // shown by the cell, not raised
		t.traceback(o)
	}
	t.endLine()
	if x.Reason != "" {
		t.say("         %s", printed(x.Reason))
	}
	if x.Seconds >= 1 {
		t.say("         %.1f s", x.Seconds)
	}
}

func (t *transcript) traceback(o notebook.Output) {
	text := strings.Join(o.Traceback, "\n")
	if text == "" {
		text = o.EName + ": " + o.EValue
	}
	t.endLine()
	t.clean.state = plain
	t.put(t.clean.text(text))
	t.endLine()
}

// failure shows the cell that ended the run.
func (t *transcript) failure(title, source string, x notebook.Execution) {
	t.line(title)
	at := 0
	e, raised := x.Error()
	if raised {
		at = failedLine(e, x.Count)
	}
	t.put(excerpt(source, at))
	for _, o := range t.held {
		t.traceback(o)
	}
	t.endLine()
}

func (t *transcript) close() {
	t.endLine()
	t.w.close()
}

// cellLine finds a cell's lines in IPython's tracebacks: "Cell In[3], line 7".
var cellLine = regexp.MustCompile(`In ?\[(\d+)\],? line (\d+)`)

// failedLine returns the line of the cell that its traceback names last; 0 if
// there is none.
func failedLine(e notebook.Output, count int) int {
	at := 0
	for _, m := range cellLine.FindAllStringSubmatch(notebook.StripANSI(strings.Join(e.Traceback, "\n")), -1) {
		if m[1] == strconv.Itoa(count) {
			at, _ = strconv.Atoi(m[2]) // too large a number is no line
		}
	}
	return at
}

// around is how many lines of a cell are shown before and after the one that failed.
const around = 4

// excerpt returns the lines of the source around a line, or the first ones.
func excerpt(source string, at int) string {
	lines := strings.Split(strings.TrimRight(source, "\n"), "\n")
	if at > len(lines) {
		at = 0
	}
	from, to := max(0, at-1-around), min(len(lines), max(at, 1)+around)
	if at == 0 {
		to = min(len(lines), 2*around+1)
	}
	var b strings.Builder
	gap := func(n int) {
		if n > 0 {
			fmt.Fprintf(&b, "        … (%s)\n", plural(n, "line"))
		}
	}
	gap(from)
	for i := from; i < to; i++ {
		mark := "  "
		if i == at-1 {
			mark = "→ "
		}
		fmt.Fprintf(&b, "%s%5d  %s\n", mark, i+1, fitWidth(printed(lines[i]), 200))
	}
	gap(len(lines) - to)
	return b.String()
}

func fitWidth(line string, columns int) string {
	if runes := []rune(line); len(runes) > columns {
		return string(runes[:columns-1]) + "…"
	}
	return line
}

// Bounds of what is shown of a display or result; the notebook has all of it.
const (
	shownLines = 60
	shownBytes = 8 << 10
)

// shown returns what a reader of text sees of a display.
func shown(data notebook.MIMEBundle) string {
	text, hasText := data["text/plain"].(string)
	note := ""
	for _, mime := range slices.Sorted(maps.Keys(data)) {
		kind, _, _ := strings.Cut(mime, "/")
		media := kind == "image" || kind == "video" || kind == "audio" || mime == "application/pdf"
		if note == "" && (media || !hasText) {
			note = "<" + mime + ">"
		}
	}
	whole := text
	if len(text) > shownBytes {
		text = strings.ToValidUTF8(text[:shownBytes], "")
	}
	if lines := strings.SplitAfterN(text, "\n", shownLines+1); len(lines) > shownLines {
		text = strings.Join(lines[:shownLines], "")
	}
	if len(text) < len(whole) {
		text = strings.TrimSuffix(text, "\n") + "\n…"
	}
	text = strings.TrimRight(text, "\n")
	if note != "" && text != "" {
		note += " "
	}
	return note + text
}

// A cleaner takes out of what cells put out everything that would do more to a
// terminal than show text: all escape sequences but, if wanted, those of colours.
type cleaner struct {
	colours  bool
	moves    bool // so are those of a live view: up, and clearing what is there
	still    bool // so is nothing that goes back on the line
	coloured bool // a colour is on
	state    cleanState
	params   []rune // of the sequence under way
}

type cleanState int

const (
	plain    cleanState = iota
	escape              // after ESC
	sequence            // after ESC [
	command             // after ESC ] and the like: text until BEL or ESC \
)

// text returns what is left of a piece; a sequence may be cut by its end.
func (c *cleaner) text(piece string) string {
	var b strings.Builder
	for _, r := range piece {
		c.add(&b, r)
	}
	return b.String()
}

func (c *cleaner) add(b *strings.Builder, r rune) {
	switch {
	case r == 0x1b:
		c.state, c.params = escape, c.params[:0]
	case c.state == escape && r == '[' || c.state == plain && r == 0x9b:
		c.state, c.params = sequence, c.params[:0]
	case c.state == escape && strings.ContainsRune("]PX^_", r) || c.state == plain && (r == 0x90 || r == 0x98 || 0x9d <= r && r <= 0x9f):
		c.state = command
	case c.state == escape && ' ' <= r && r <= '/': // one more character comes
	case c.state == escape:
		c.state = plain
	case c.state == command:
		if r == 7 || r == 0x9c || r == '\n' {
			c.state = plain
		}
	case c.state == sequence:
		c.param(b, r)
	case r == '\r' || r == '\b':
		if !c.still {
			b.WriteRune(r)
		}
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f || r >= 0xa0 && !turns(r):
		b.WriteRune(r)
	}
}

// param takes one character of a sequence.
func (c *cleaner) param(b *strings.Builder, r rune) {
	if r >= ' ' && r <= '?' && len(c.params) < 64 {
		c.params = append(c.params, r)
		return
	}
	c.state = plain
	params := string(c.params)
	if r == 'm' && c.colours && strings.Trim(params, "0123456789;:") == "" {
		b.WriteString("\x1b[" + params + "m")
		c.coloured = strings.Trim(params, "0") != ""
	}
	if (r == 'A' || r == 'J' || r == 'K') && c.moves && strings.Trim(params, "0123456789") == "" {
		b.WriteString("\x1b[" + params + string(r))
	}
}

// printed is text on one line, without anything but text.
func printed(text string) string {
	c := cleaner{}
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\b':
			return ' '
		}
		return r
	}, c.text(text))
}

// A lazyWriter writes from a goroutine of its own, so that a terminal that has
// been stopped or a slow pipe holds no cell up. What it cannot take in time is
// dropped, with a note.
type lazyWriter struct {
	w       io.Writer
	wake    chan struct{} // holds a token when there is something to do
	ended   chan struct{}
	mu      sync.Mutex
	pending []byte
	dropped int
	closed  bool
	moved   time.Time // when something was written last
}

// lazyBytes is how much may wait to be written.
const lazyBytes = 1 << 20

func newLazyWriter(w io.Writer) *lazyWriter {
	l := &lazyWriter{w: w, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go l.work()
	return l
}

func (l *lazyWriter) write(text string) {
	l.mu.Lock()
	if l.closed || len(l.pending)+len(text) > lazyBytes {
		l.dropped += len(text)
	} else {
		l.note()
		l.pending = append(l.pending, text...)
	}
	l.mu.Unlock()
	l.poke()
}

// note tells of what was dropped; mu is held.
func (l *lazyWriter) note() {
	if l.dropped > 0 {
		l.pending = fmt.Appendf(l.pending, "\n[dsstar: %d bytes came too fast to be shown here; the notebook has them]\n", l.dropped)
		l.dropped = 0
	}
}

func (l *lazyWriter) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *lazyWriter) work() {
	defer close(l.ended)
	for range l.wake {
		for {
			l.mu.Lock()
			if len(l.pending) == 0 {
				l.note()
			}
			part, closed := l.pending, l.closed
			l.pending = nil
			l.moved = time.Now()
			l.mu.Unlock()
			if len(part) == 0 {
				if closed {
					return
				}
				break
			}
			for len(part) > 0 {
				n := min(len(part), 32<<10)
				_, _ = l.w.Write(part[:n]) // nobody listens any more
				part = part[n:]
				l.mu.Lock()
				l.moved = time.Now()
				l.mu.Unlock()
			}
		}
	}
}

// close waits until everything is written, or nothing has moved for a while.
func (l *lazyWriter) close() {
	l.mu.Lock()
	l.closed, l.moved = true, time.Now()
	l.mu.Unlock()
	l.poke()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-tick.C:
			l.mu.Lock()
			stuck := time.Since(l.moved) > 2*time.Second
			l.mu.Unlock()
			if stuck {
				return
			}
		}
	}
}

package ui

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

// A Screen writes lines of history to W and, on a terminal, keeps a view below them until Stop.
// It does not change the terminal's mode, and leaves the cursor at the beginning of a line, so
// that the terminal is usable however the program ends. A blocked terminal or pipe holds its
// callers up once, for a limited time.
type Screen struct {
	W io.Writer
	Options
	View func(columns, rows int) (lines []string) // draws the view

	writing sync.Mutex
	stuck   atomic.Bool // waiting for a writer has timed out

	mu      sync.Mutex
	pending []Line // history not written yet
	gone    bool   // the view has been removed

	drawn   []string // the view as drawn
	columns int      // the width that it was drawn for
}

// A Line is a clean line of history. The style applies to its label or, in an indented line, to the
// text before a colon.
type Line struct {
	Text  string
	Style Style
	Whole bool // it is to be pasted: the terminal alone wraps it
}

// painted returns the text of a line with its style.
func painted(text string, style Style) string {
	if len(text) <= Margin {
		return text
	}
	at, separator := 0, " "
	if strings.TrimSpace(text[:Margin]) == "" {
		at, separator = Margin, ":"
	}
	head, _, _ := strings.Cut(text[at:], separator)
	return text[:at] + style.Paint(head, true) + text[at+len(head):]
}

const (
	redraw     = 85 * time.Millisecond // between two pictures
	grace      = 2 * time.Second       // how long to wait for a terminal that blocks
	maxWrapped = 8                     // rows of the terminal for a line of history
)

// Start updates the view until Stop.
func (s *Screen) Start() {
	go func() {
		for over := !s.Live; !over; {
			time.Sleep(redraw)
			s.write()
			s.mu.Lock()
			over = s.gone
			s.mu.Unlock()
		}
	}()
}

// Stop removes the view. Tell may still be called.
func (s *Screen) Stop() {
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	s.Flush()
}

// Tell adds a line to the history. With a view, the next picture shows it.
func (s *Screen) Tell(line Line) {
	s.mu.Lock()
	s.pending = append(s.pending, line)
	waits := s.Live && !s.gone
	s.mu.Unlock()
	if !waits {
		s.Flush()
	}
}

// Flush waits until the history and the view are written, for a limited time.
func (s *Screen) Flush() {
	if s.stuck.Load() {
		return
	}
	done := make(chan struct{})
	go func() { s.write(); close(done) }()
	select {
	case <-done:
	case <-time.After(grace):
		s.stuck.Store(true)
	}
}

func (s *Screen) write() {
	s.writing.Lock()
	defer s.writing.Unlock()
	for text := s.picture(); text != ""; text = s.picture() {
		_, _ = io.WriteString(s.W, text) // the reader may be gone
	}
	s.stuck.Store(false)
}

// picture returns the text to write now.
func (s *Screen) picture() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	history, columns, rows := s.pending, 0, 0
	s.pending = nil
	if s.Live {
		columns, rows = s.Size()
	}
	if !s.Live || s.gone && len(s.drawn) == 0 {
		return s.lines(history, columns, "\n")
	}
	var view []string
	if !s.gone {
		view = s.View(columns, rows)
	}
	if len(history) == 0 && slices.Equal(view, s.drawn) && (columns == s.columns || len(view) == 0) {
		return ""
	}
	var b strings.Builder
	b.WriteByte('\r')
	if up := s.height(columns); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString(s.lines(history, columns, "\x1b[K\n")) // over the old lines, to avoid flicker
	for _, line := range view {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	s.drawn, s.columns = view, columns
	return b.String()
}

// lines returns lines of history, on a terminal wrapped and painted.
func (s *Screen) lines(history []Line, columns int, end string) string {
	var b strings.Builder
	for _, line := range history {
		rows := []string{line.Text}
		if s.Live && !line.Whole {
			rows = Wrap(line.Text, columns-1, maxWrapped)
		}
		for i, row := range rows {
			end := end
			if s.Live && Width(row) >= columns { // it goes on in the terminal's next rows
				b.WriteString("\x1b[J")
				end = "\n"
			}
			if i == 0 && s.Colours {
				row = painted(row, line.Style)
			}
			b.WriteString(row + end)
		}
	}
	return b.String()
}

// height returns the number of rows that the drawn view takes now: a terminal that has become
// narrower wraps its lines.
func (s *Screen) height(columns int) int {
	n := len(s.drawn)
	if columns >= s.columns || columns < 1 {
		return n
	}
	for _, line := range s.drawn {
		n += max(0, Width(line)-1) / columns
	}
	return n
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Size returns the columns and rows of the terminal behind w, or usual ones.
func Size(w io.Writer) (columns, rows int) {
	if f, ok := Unwrapped(w).(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// A row is one line of the view: a label in the margin, and text.
type row struct{ label, text string }

// Limits of the view, in lines.
const (
	viewRows = 10
	textRows = 8
)

// picture draws the view. The lines are clean and leave the last column free. If there are not
// enough rows, the first lines are dropped.
func (p *Progress) picture(columns, height int) (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing == "" {
		return nil
	}
	rows, label := []row(nil), p.label
	if p.text != nil {
		for _, line := range lastLines(p.text(), textRows) {
			rows = append(rows, row{Fit(Clean(label), Margin-1), "│ " + line})
			label = ""
		}
	}
	now := p.now()
	since := ", " + elapsed(now.Sub(p.since))
	rows = append(rows, row{"now", Cut(Clean(p.doing), max(1, columns-1-Margin-len(since))) + since})
	if p.spent != "" {
		rows = append(rows, row{elapsed(now.Sub(p.begun)), p.spent})
	}
	for _, r := range rows[max(0, len(rows)-max(0, min(viewRows, height-2))):] {
		line := Clean(fmt.Sprintf("%-*s%s", Margin, r.label, r.text))
		lines = append(lines, strings.TrimRight(Cut(line, columns-1), " "))
	}
	return lines
}

func elapsed(d time.Duration) string { return d.Truncate(time.Second).String() }

// learn updates the view after an event.
func (p *Progress) learn(e agent.Event, t *record.Trajectory) {
	cached, cost := "", ""
	if t.Usage.CachedTokens > 0 {
		cached = fmt.Sprintf(" (%s cached)", human.Count(t.Usage.CachedTokens))
	}
	if t.Cost != nil {
		cost = ", ~" + human.Dollars(*t.Cost)
	}
	p.spent = fmt.Sprintf("%s, %s in%s, %s out%s", human.Plural(t.Usage.Calls, "call"),
		human.Count(t.Usage.InputTokens), cached, human.Count(t.Usage.OutputTokens), cost)
	switch e.Kind {
	case agent.Described:
		p.described++
	case agent.WentBack, agent.Proving, agent.Ended:
		p.text = nil
	}
}

// outputText returns an output as text. Exceptions are reported when the cell ends.
func outputText(o notebook.Output) string {
	switch o.Type {
	case notebook.Stream:
		return o.Text
	case notebook.ErrorOutput:
		return ""
	}
	text, _ := o.Data["text/plain"].(string)
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
		kind, _, _ := strings.Cut(mime, "/")
		switch {
		case kind == "image" || kind == "video" || kind == "audio":
			return "\n[" + kind + "]\n"
		case text == "":
			text = "[" + mime + "]"
		}
	}
	return "\n" + text + "\n"
}

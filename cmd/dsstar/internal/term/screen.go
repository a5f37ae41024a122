package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// A Screen writes lines of history to stderr, and on a terminal keeps a view
// below them, which goes away at the end. It changes nothing about the terminal
// (no raw mode, no hidden cursor, no question to it), and the cursor waits at the
// beginning of the line below: whatever ends the program, the terminal is sane.
//
// All writing is done by a goroutine that lives while there is something to
// write, so that a terminal or pipe that takes nothing holds nobody up.
type Screen struct {
	W       io.Writer
	Live    bool                                     // there is a view
	Colours bool                                     // there are colours
	Size    func() (columns, rows int)               // of the terminal
	View    func(columns, rows int) (lines []string) // what the view is to be

	once    sync.Once     // for stop
	stopped chan struct{} // closed by stop

	mu      sync.Mutex
	pending []Line        // history that waits to be written
	dropped int           // lines that found no room among it
	due     bool          // the view is to be drawn anew
	gone    bool          // there is no view any more
	writing chan struct{} // closed when nothing is left to write; nil when nothing is written
	stuck   bool          // somebody has waited for that in vain

	drawn   []string // the view as it stands there
	columns int      // the width that it was drawn for
}

// A Line is a clean line of history. Its style is that of its label, or where it begins with a
// margin that of the words up to a colon.
type Line struct {
	Text  string
	Style Style
}

// Painted returns the line with its style.
func (l Line) Painted() string {
	if len(l.Text) <= Margin {
		return l.Text
	}
	at, separator := 0, " "
	if strings.TrimSpace(l.Text[:Margin]) == "" {
		at, separator = Margin, ":"
	}
	head, _, _ := strings.Cut(l.Text[at:], separator)
	return l.Text[:at] + l.Style.Paint(head, true) + l.Text[at+len(head):]
}

const (
	redraw     = 85 * time.Millisecond // between two pictures: as fast as one can read
	grace      = 2 * time.Second       // how long a terminal may take for the last lines
	maxPending = 2000                  // lines
	maxWrapped = 8                     // lines of the terminal for one of history
)

// Start begins to keep the view up to date, until stop.
func (s *Screen) Start() {
	s.stopped = make(chan struct{})
	if !s.Live {
		return
	}
	go func() {
		ticker := time.NewTicker(redraw)
		defer ticker.Stop()
		for {
			select {
			case <-s.stopped:
				return
			case <-ticker.C:
				s.mu.Lock()
				s.due = true
				s.write()
				s.mu.Unlock()
			}
		}
	}()
}

// Stop takes the view away for good. History may still be told; it is waited for.
func (s *Screen) Stop() {
	s.once.Do(func() {
		if s.stopped != nil {
			close(s.stopped)
		}
	})
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	s.Flush()
}

// Tell adds a clean line to the history. With a view, the next picture has it.
func (s *Screen) Tell(line Line) {
	s.mu.Lock()
	if len(s.pending) < maxPending {
		s.pending = append(s.pending, line)
	} else {
		s.dropped++
	}
	if !s.Live {
		s.write()
	}
	over := s.gone
	s.mu.Unlock()
	if over {
		s.Flush()
	}
}

// Flush waits until all that was told is written and the view is as it should
// be, but not for ever.
func (s *Screen) Flush() {
	s.mu.Lock()
	s.due = true
	s.write()
	writing, stuck := s.writing, s.stuck
	s.mu.Unlock()
	if stuck {
		return
	}
	select {
	case <-writing:
	case <-time.After(grace):
		s.mu.Lock()
		s.stuck = s.writing != nil
		s.mu.Unlock()
	}
}

// write has all written that is to be; mu is held.
func (s *Screen) write() {
	if s.writing != nil {
		return
	}
	s.writing = make(chan struct{})
	go func() {
		for {
			s.mu.Lock()
			text := s.picture()
			if text == "" {
				close(s.writing)
				s.writing, s.stuck = nil, false
				s.mu.Unlock()
				return
			}
			s.mu.Unlock()
			_, _ = io.WriteString(s.W, text) // perhaps nobody reads it any more
		}
	}()
}

// picture returns what is to be written now, as one piece; mu is held.
func (s *Screen) picture() string {
	if s.dropped > 0 && len(s.pending) < maxPending {
		s.pending = append(s.pending, Line{
			Text:  fmt.Sprintf("warning  %d lines came too fast to be shown here; the notebook has them", s.dropped),
			Style: Doubt,
		})
		s.dropped = 0
	}
	history := s.pending
	if !s.Live || s.gone && len(s.drawn) == 0 {
		s.pending, s.due = nil, false
		return s.lines(history, "\n")
	}
	if len(history) == 0 && !s.due {
		return ""
	}
	s.pending, s.due = nil, false
	columns, rows := s.Size()
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
	b.WriteString(s.lines(history, "\x1b[K\n")) // over the old lines, so that nothing flickers
	for _, line := range view {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	s.drawn, s.columns = view, columns
	return b.String()
}

// lines returns lines of history, wrapped and painted on a terminal.
func (s *Screen) lines(history []Line, end string) string {
	columns := 0
	if s.Live && len(history) > 0 {
		columns, _ = s.Size()
	}
	var b strings.Builder
	for _, line := range history {
		rows := []string{line.Text}
		if s.Live {
			rows = Wrap(line.Text, columns-1, maxWrapped)
		}
		for i, row := range rows {
			if i == 0 && s.Colours {
				row = Line{row, line.Style}.Painted()
			}
			b.WriteString(row + end)
		}
	}
	return b.String()
}

// height returns the number of lines that the view takes in a terminal of the
// given width. One that was made narrower has broken its lines, as most do.
func (s *Screen) height(columns int) int {
	n := len(s.drawn)
	if columns >= s.columns || columns < 1 {
		return n
	}
	for _, line := range s.drawn {
		bare := displaywidth.Options{ControlSequences: true}.String(line)
		n += max(0, bare-1) / columns
	}
	return n
}

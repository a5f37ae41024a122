package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/term"
)

// A terminal is what a real one shows of what is written to it, for text of
// narrow characters and the sequences that a screen writes. Lines that are too
// long go on in the next, and are broken anew when it is resized.
type terminal struct {
	columns, rows int
	lines         []terminalLine // all, with those that have scrolled away
	at, column    int            // the cursor
}

type terminalLine struct {
	text []rune
	more bool // it goes on in the next
}

var terminalToken = regexp.MustCompile(`\x1b\[(\d*)([A-Za-z])|[^\x1b]|\x1b`)

func (m *terminal) Write(p []byte) (int, error) {
	for _, token := range terminalToken.FindAllStringSubmatch(string(p), -1) {
		n, _ := strconv.Atoi(token[1])
		switch {
		case token[2] == "A":
			m.at = max(m.at-n, len(m.lines)-m.rows, 0) // what has scrolled away is out of reach
		case token[2] == "K":
			m.line().text = m.line().text[:min(m.column, len(m.line().text))]
			m.line().more = false
		case token[2] == "J":
			m.line().text = m.line().text[:min(m.column, len(m.line().text))]
			m.lines = m.lines[:m.at+1]
		case token[2] == "m":
		case token[0] == "\r":
			m.column = 0
		case token[0] == "\n":
			m.at, m.column = m.at+1, 0
		case token[0][0] < ' ':
			return 0, fmt.Errorf("what is %q?", token[0])
		default:
			m.put([]rune(token[0])[0])
		}
	}
	return len(p), nil
}

func (m *terminal) line() *terminalLine {
	for len(m.lines) <= m.at {
		m.lines = append(m.lines, terminalLine{})
	}
	return &m.lines[m.at]
}

func (m *terminal) put(r rune) {
	if m.column == m.columns {
		m.line().more = true
		m.at, m.column = m.at+1, 0
	}
	l := m.line()
	for len(l.text) <= m.column {
		l.text = append(l.text, ' ')
	}
	l.text[m.column] = r
	m.column++
}

// resize breaks the lines for another width. The cursor is at the end.
func (m *terminal) resize(columns int) {
	old := m.lines
	m.lines, m.at, m.column, m.columns = nil, 0, 0, columns
	for i, l := range old {
		_, _ = io.WriteString(m, string(l.text))
		if !l.more && i < len(old)-1 {
			_, _ = io.WriteString(m, "\n")
		}
	}
}

func (m *terminal) String() string {
	var b strings.Builder
	for _, l := range m.lines {
		b.WriteString(strings.TrimRight(string(l.text), " "))
		if !l.more {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// onTerminal lets a stage draw on a terminal, at each flush.
func onTerminal(s *stage, columns, rows int) *terminal {
	m := &terminal{columns: columns, rows: rows}
	s.screen.W, s.screen.Size = m, func() (int, int) { return m.columns, m.rows }
	return m
}

// TestScreen: history scrolls away above the view, whatever the size of the
// terminal, and at the end nothing but history is left.
func TestScreen(t *testing.T) {
	for _, size := range [][2]int{{60, 24}, {100, 10}, {20, 5}, {200, 50}, {40, 2}} {
		s := newStage("notes.md", "sales.csv", "stores of the whole country.xlsx")
		m := onTerminal(s, size[0], size[1])
		fmt.Fprint(m, "$ dsstar nb\n")
		seen := ""
		script(s, func(moment string) {
			s.screen.Flush()
			if moment == "running" {
				seen = m.String()
			}
			if m.column != 0 {
				t.Errorf("%v, %s: the cursor is in column %d", size, moment, m.column)
			}
			if moment == "writing" && !strings.HasSuffix(m.String(), "\n"+s.shown(size[0])+"\n") && size[0] >= 60 {
				t.Errorf("%v: the view is not at the end:\n%s", size, m)
			}
			for i := range 7 {
				s.warn("number %d while %s", i, moment)
			}
		})
		if size[0] >= 60 && !strings.Contains(seen, "running the cell") {
			t.Errorf("%v: no view:\n%s", size, seen)
		}
		s.stop()
		s.sayIn(term.Good, "verified the end")
		want := "$ dsstar nb\n"
		for _, line := range history(script) {
			want += strings.Join(term.Wrap(line, size[0]-1, 8), "\n") + "\n"
		}
		got := m.String()
		if size[0] < 3*term.Margin { // lines that the terminal breaks
			got, want = strings.Join(strings.Fields(got), ""), strings.Join(strings.Fields(want), "")
		}
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
			t.Errorf("%v:\n%s", size, diff)
		}
	}
}

// history returns what is told in a script where there is no view.
func history(script func(*stage, func(string))) []string {
	var b strings.Builder
	s := newStage("notes.md", "sales.csv", "stores of the whole country.xlsx")
	s.screen.W, s.screen.Live = &b, false
	script(s, func(moment string) {
		for i := range 7 {
			s.warn("number %d while %s", i, moment)
		}
	})
	s.stop()
	s.sayIn(term.Good, "verified the end")
	return slices.Collect(strings.Lines(strings.ReplaceAll(b.String(), "\n", " \n")))
}

// TestScreenResized: a view that the terminal has broken into more lines goes
// away as a whole.
func TestScreenResized(t *testing.T) {
	s := newStage("notes.md")
	m := onTerminal(s, 100, 40)
	s.plan("Load the sales, keep those of last year and add them up for each of the stores, whatever their name.")
	s.cell(strings.Repeat("sales = pd.read_csv('data/sales.csv').query('year == 2025 and store != 0')\n", 9))
	s.screen.Flush()
	for _, columns := range []int{45, 30, 120, 77, 60} {
		m.resize(columns)
		s.screen.Flush()
		if n := strings.Count(m.String(), "round 1"); n != 1 {
			t.Fatalf("%d columns: %d views\n%s", columns, n, m)
		}
	}
	s.happens(agent.Event{Kind: agent.Ended})
	s.stop()
	if got := strings.TrimSpace(m.String()); strings.Contains(got, "sales =") || !strings.HasPrefix(got, "step 1   Load") || !strings.HasSuffix(got, "name.") {
		t.Errorf("%s", m)
	}
}

package ui

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent"
)

// onTerminal lets a stage draw on a terminal, at each flush.
func onTerminal(s *stage, columns, rows int) *Terminal {
	m := &Terminal{Columns: columns, Rows: rows}
	s.screen.W, s.screen.Size = m, func() (int, int) { return m.Columns, m.Rows }
	return m
}

// TestScreen: history scrolls away above the view at every size of the terminal, and only history
// is left at the end.
func TestScreen(t *testing.T) {
	warned := func(s *stage, see func(string)) {
		script(s, func(moment string) {
			see(moment)
			for i := range 7 {
				s.Warn("number %d while %s", i, moment)
			}
		})
		s.Stop()
		s.SayIn(Good, "verified the end")
	}
	var lines strings.Builder // without a view
	plain := newStage()
	plain.screen.W, plain.screen.Live = &lines, false
	warned(plain, func(string) {})
	for _, size := range [][2]int{{60, 24}, {100, 10}, {20, 5}, {200, 50}, {40, 2}} {
		s := newStage()
		m := onTerminal(s, size[0], size[1])
		fmt.Fprint(m, "$ dsstar nb\n")
		warned(s, func(moment string) {
			s.screen.Flush()
			if m.Column != 0 {
				t.Errorf("%v, %s: the cursor is in column %d", size, moment, m.Column)
			}
			if moment == "running" && !strings.HasSuffix(m.String(), "\n"+s.shown(size[0])+"\n") && size[0] >= 60 {
				t.Errorf("%v: the view is not at the end:\n%s", size, m)
			}
		})
		want := "$ dsstar nb\n"
		for line := range strings.Lines(lines.String()) {
			want += strings.Join(Wrap(strings.TrimSuffix(line, "\n")+" ", size[0]-1, 8), "\n") + "\n"
		}
		got := m.String()
		if size[0] < 3*Margin { // the terminal wraps lines
			got, want = strings.Join(strings.Fields(got), ""), strings.Join(strings.Fields(want), "")
		}
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
			t.Errorf("%v:\n%s", size, diff)
		}
	}
}

// TestScreenResized: a view that the terminal has wrapped to more lines is removed completely.
func TestScreenResized(t *testing.T) {
	s := newStage()
	m := onTerminal(s, 100, 40)
	s.plan("Load the sales, keep those of last year and add them up for each store, whatever its name.")
	s.Cell(strings.Repeat("sales = pd.read_csv('data/sales.csv').query('year == 2025 and store')\n", 9))
	s.screen.Flush()
	for _, columns := range []int{45, 30, 120, 77, 60} {
		m.Resize(columns)
		s.screen.Flush()
		if n := strings.Count(m.String(), "running the cell"); n != 1 {
			t.Fatalf("%d columns: %d views\n%s", columns, n, m)
		}
	}
	s.happens(agent.Event{Kind: agent.Ended})
	s.Stop()
	if got := strings.TrimSpace(m.String()); strings.Contains(got, "sales =") ||
		!strings.HasPrefix(got, "step 1   Load") || !strings.HasSuffix(got, "name.") {
		t.Errorf("%s", m)
	}
}

// TestPathsStayWhole: a path that is wider than the terminal can be copied from it: only the terminal
// wraps it, and nothing of the view stays beside it.
func TestPathsStayWhole(t *testing.T) {
	for _, columns := range []int{30, 40, 100, 200} {
		for _, length := range []int{1, columns - 10, columns - 9, 2*columns - 9, 5 * columns} {
			s := newStage()
			m := onTerminal(s, columns, 24)
			s.plan("Load the sales.")
			s.Cell(strings.Repeat("sales = 1 # and more of this cell\n", 9))
			s.screen.Flush()
			path := "/home/ada/my runs  of May/" + strings.Repeat("x", max(length-26, 0))
			s.Folder(path)
			s.Say("data     %s", "/"+strings.Repeat("y", length))
			s.Stop()
			rest := strings.TrimPrefix(m.String(), "step 1   Load the sales.\n")
			want := "run      " + path + "\ndata     /" + strings.Repeat("y", length) + "\n"
			if !strings.HasPrefix(rest, want) || strings.Contains(rest, "sales =") {
				t.Errorf("%d columns, %d characters:\n%s", columns, length, m)
			}
		}
	}
}

// A Terminal emulates a terminal, for narrow characters and the escape sequences that a Screen
// writes. It wraps long lines, and wraps them again when it is resized.
type Terminal struct {
	Columns, Rows int
	lines         []terminalLine // all, with those that have scrolled away
	at            int            // the row of the cursor
	Column        int            // of the cursor
}

type terminalLine struct {
	text []rune
	more bool // it continues in the next line
}

var terminalToken = regexp.MustCompile(`\x1b\[(\d*)([A-Za-z])|[^\x1b]|\x1b`)

func (m *Terminal) Write(p []byte) (int, error) {
	for _, token := range terminalToken.FindAllStringSubmatch(string(p), -1) {
		n, _ := strconv.Atoi(token[1])
		switch {
		case token[2] == "A":
			m.at = max(m.at-n, len(m.lines)-m.Rows, 0) // what has scrolled away is out of reach
		case token[2] == "K", token[2] == "J":
			m.line().text = m.line().text[:min(m.Column, len(m.line().text))]
			if m.line().more = false; token[2] == "J" {
				m.lines = m.lines[:m.at+1]
			}
		case token[2] == "m":
		case token[0] == "\r":
			m.Column = 0
		case token[0] == "\n":
			m.at, m.Column = m.at+1, 0
		case token[0][0] < ' ':
			return 0, fmt.Errorf("what is %q?", token[0])
		default:
			m.put([]rune(token[0])[0])
		}
	}
	return len(p), nil
}

func (m *Terminal) line() *terminalLine {
	for len(m.lines) <= m.at {
		m.lines = append(m.lines, terminalLine{})
	}
	return &m.lines[m.at]
}

func (m *Terminal) put(r rune) {
	if m.Column == m.Columns {
		m.line().more = true
		m.at, m.Column = m.at+1, 0
	}
	l := m.line()
	for len(l.text) <= m.Column {
		l.text = append(l.text, ' ')
	}
	l.text[m.Column] = r
	m.Column++
}

// Resize wraps the lines to another width, and moves the cursor to the end.
func (m *Terminal) Resize(columns int) {
	old := m.lines
	m.lines, m.at, m.Column, m.Columns = nil, 0, 0, columns
	for i, l := range old {
		_, _ = io.WriteString(m, string(l.text))
		if !l.more && i < len(old)-1 {
			_, _ = io.WriteString(m, "\n")
		}
	}
}

func (m *Terminal) String() string {
	var b strings.Builder
	for _, l := range m.lines {
		b.WriteString(strings.TrimRight(string(l.text), " "))
		if !l.more {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

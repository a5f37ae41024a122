package ui

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

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
		case token[2] == "K":
			m.line().text = m.line().text[:min(m.Column, len(m.line().text))]
			m.line().more = false
		case token[2] == "J":
			m.line().text = m.line().text[:min(m.Column, len(m.line().text))]
			m.lines = m.lines[:m.at+1]
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

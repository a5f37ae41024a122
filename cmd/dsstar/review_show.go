package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
)

// show shows all of a proposal. If its cell is a new version of another one, changed lines are
// marked.
func (v *reviewer) show(p agent.Proposal, before string) {
	columns, _ := v.app.size()
	v.paragraph(ui.Strong, fmt.Sprintf("%-*s%s: %s", ui.Margin, "review", strings.ToLower(name(p)),
		ui.Clean(p.Text)), columns)
	if p.Error != "" {
		v.paragraph(ui.Bad, fmt.Sprintf("%-*s%s", ui.Margin, "after", ui.Clean(p.Error)), columns)
	}
	for _, line := range marked(before, p.Code) {
		style := map[byte]ui.Style{'-': ui.Bad, '+': ui.Good}[line[0]]
		for _, row := range rows(line, columns-1) {
			v.tell(style.Paint(row, v.colours))
		}
	}
}

func (v *reviewer) paragraph(style ui.Style, text string, columns int) {
	for i, line := range ui.Wrap(text, columns-1, len(text)+1) {
		v.tell(style.Paint(line, v.colours && i == 0))
	}
}

// marked returns the lines of code, and those that were removed from the version before, each after a
// mark: + if it is new, - if it was removed, else a blank.
func marked(before, code string) (lines []string) {
	rest := strings.Split(code, "\n")
	same := func(n int) {
		for _, line := range rest[:n] {
			lines = append(lines, " "+line)
		}
		rest = rest[n:]
	}
	changes := ""
	if before != "" {
		changes = string(diff.Diff("", []byte(before+"\n"), "", []byte(code+"\n")))
	}
	for i, line := range strings.Split(strings.TrimSuffix(changes, "\n"), "\n") {
		switch {
		case i < 3: // names
		case line[0] == '@':
			var from int
			_, _ = fmt.Sscanf(line[strings.Index(line, "+"):], "+%d", &from) // it is of this form
			same(max(0, from-1-(strings.Count(code, "\n")+1-len(rest))))
		default:
			if lines = append(lines, line); line[0] != '-' {
				rest = rest[1:]
			}
		}
	}
	same(len(rest))
	return lines
}

// rows wraps a marked line of code into rows of the terminal. Those that go on are marked, so that one
// line never looks like two.
func rows(line string, columns int) (all []string) {
	frame := strings.Repeat(" ", ui.Margin) + "│ " + line[:1] + " "
	for rest := revealed(line[1:]); ; {
		head, more := ui.Split(rest, max(1, columns-ui.Width(frame)))
		all = append(all, strings.TrimRight(frame+head, " "))
		if more == "" {
			return all
		}
		frame, rest = strings.Replace(frame, "│", "┊", 1), more
	}
}

// revealed returns code with control and invisible characters shown as escapes.
func revealed(code string) string {
	var b strings.Builder
	marks := 0
	for _, r := range code {
		if !unicode.Is(unicode.M, r) {
			marks = 0
		} else {
			marks++
		}
		switch {
		case r == '\t':
			b.WriteString("    ")
		case unicode.IsPrint(r) && marks <= ui.MaxMarks:
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		}
	}
	return b.String()
}

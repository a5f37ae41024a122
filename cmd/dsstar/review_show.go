package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
)

// show shows all of a proposal.
func (v *reviewer) show(p agent.Proposal) {
	what := "the last cell"
	if p.Step > 0 {
		what = fmt.Sprintf("step %d", p.Step)
	}
	columns, _ := v.app.size()
	v.paragraph(ui.Strong, fmt.Sprintf("%-*s%s: %s", ui.Margin, "review", what, ui.Clean(p.Text)), columns)
	if p.Error != "" {
		v.paragraph(ui.Bad, fmt.Sprintf("%-*s%s", ui.Margin, "after", ui.Clean(p.Error)), columns)
	}
	for line := range strings.SplitSeq(p.Code, "\n") {
		for _, row := range rows(line, columns-1) {
			v.tell(row)
		}
	}
}

func (v *reviewer) paragraph(style ui.Style, text string, columns int) {
	for i, line := range ui.Wrap(text, columns-1, len(text)+1) {
		v.tell(style.Paint(line, v.colours && i == 0))
	}
}

// rows wraps a line of code into rows of the terminal. Those that go on are marked, so that one
// line never looks like two.
func rows(line string, columns int) (all []string) {
	frame := strings.Repeat(" ", ui.Margin) + "│ "
	for rest := revealed(line); ; {
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

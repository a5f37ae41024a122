package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
)

// show shows all of a proposal. If its cell is a new version of another one, changed lines are
// marked.
func (v *reviewer) show(p agent.Proposal, before string) {
	columns, _ := v.app.size()
	v.paragraph(ui.Strong,
		fmt.Sprintf("%-*s%s: %s", ui.Margin, "review", strings.ToLower(name(p)), ui.Clean(p.Text)),
		columns)
	if p.Error != "" {
		v.paragraph(ui.Bad, fmt.Sprintf("%-*s%s", ui.Margin, "after", ui.Clean(p.Error)), columns)
	}
	for _, line := range codeLines(before, p.Code) {
		for _, row := range line.rows(columns-1, v.colours) {
			v.tell(row)
		}
	}
}

func (v *reviewer) paragraph(style ui.Style, text string, columns int) {
	for i, line := range ui.Wrap(text, columns-1, len(text)+1) {
		if i == 0 && v.colours {
			line = ui.Line{Text: line, Style: style}.Painted()
		}
		v.tell(line)
	}
}

// A span is code in one style.
type span struct {
	text  string
	style ui.Style
}

// A codeLine is a line of code. Its mark is + if it is new, - if it was removed, a blank if it is
// unchanged, and 0 if there is nothing to compare.
type codeLine struct {
	mark  byte
	spans []span
}

// rows wraps a line into rows of the terminal. Continuation rows are marked, so that one line never
// looks like two.
func (l codeLine) rows(columns int, colours bool) []string {
	frame := strings.Repeat(" ", ui.Margin) + "│ "
	if l.mark != 0 {
		frame += string(l.mark) + " "
	}
	room := max(1, columns-ui.Width(frame))
	row, used := ui.Faint.Paint(frame, colours), 0
	var rows []string
	for _, s := range l.spans {
		for text := revealed(s.text); text != ""; {
			if used == room {
				rows = append(rows, row)
				row, used = ui.Faint.Paint(strings.Replace(frame, "│", "┊", 1), colours), 0
			}
			head, rest := ui.Split(text, room-used)
			if used > 0 && used+ui.Width(head) > room { // a wide character does not fit
				used = room
				continue
			}
			row, used, text = row+s.style.Paint(head, colours), used+ui.Width(head), rest
		}
	}
	return append(rows, strings.TrimRight(row, " "))
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

// pythonToken matches comments, strings and keywords of Python, approximately.
var pythonToken = regexp.MustCompile(
	`(#[^\n]*)|(\b[rbfuRBFU]{1,2})?("""(?s:\\.|[^\\])*?"""|'''(?s:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|` +
		`\b(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|` +
		`nonlocal|not|or|pass|raise|return|try|while|with|yield)\b`)

// highlighted returns the lines of Python code with their styles.
func highlighted(code string) [][]span {
	lines := [][]span{nil}
	add := func(text string, s ui.Style) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if part != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], span{part, s})
			}
		}
	}
	end := 0
	for _, at := range pythonToken.FindAllStringSubmatchIndex(code, -1) {
		add(code[end:at[0]], ui.Normal)
		kind := ui.Strong
		if at[2] >= 0 {
			kind = ui.Faint
		} else if at[6] >= 0 {
			kind = ui.Good
		}
		add(code[at[0]:at[1]], kind)
		end = at[1]
	}
	add(code[end:], ui.Normal)
	return lines
}

// codeLines returns the lines of code, and the removed lines of the version before.
func codeLines(before, code string) []codeLine {
	now := highlighted(code)
	var lines []codeLine
	if before == "" || before == code {
		for _, spans := range now {
			lines = append(lines, codeLine{0, spans})
		}
		return lines
	}
	was, is := strings.Split(before, "\n"), strings.Split(code, "\n")
	i, j := 0, 0
	for _, same := range append(common(was, is), [2]int{len(was), len(is)}) {
		for ; i < same[0]; i++ {
			lines = append(lines, codeLine{'-', []span{{was[i], ui.Bad}}})
		}
		for ; j < same[1]; j++ {
			lines = append(lines, codeLine{'+', []span{{is[j], ui.Good}}})
		}
		if i < len(was) && j < len(is) {
			lines = append(lines, codeLine{' ', now[j]})
			i, j = i+1, j+1
		}
	}
	return lines
}

// common returns the positions in a and b of a longest common subsequence. It compares at most the
// first 3000 lines of each.
func common(a, b []string) (pairs [][2]int) {
	const most = 3000
	n, m := min(len(a), most), min(len(b), most)
	length := make([][]int32, n+1) // of the subsequence of a[i:] and b[j:]
	length[n] = make([]int32, m+1)
	for i := n - 1; i >= 0; i-- {
		length[i] = make([]int32, m+1)
		for j := m - 1; j >= 0; j-- {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

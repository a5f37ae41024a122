package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"dsstar/agent"
)

// show shows a proposal, all of it: what is not seen cannot be approved. Where its
// cell is another version of one before, the lines that differ are marked.
func (v *reviewer) show(p agent.Proposal, before string) {
	columns, _ := v.app.size()
	v.paragraph(fmt.Sprintf("%-*s%s: %s", margin, "review", strings.ToLower(name(p)), clean(p.Text)), columns)
	if p.Error != "" {
		v.paragraph(fmt.Sprintf("%-*s%s", margin, "after", clean(p.Error)), columns)
	}
	for _, line := range codeLines(before, p.Code) {
		for _, row := range line.rows(columns-1, v.colours) {
			v.tell(row)
		}
	}
}

func (v *reviewer) paragraph(text string, columns int) {
	for i, line := range wrap(text, columns-1, len(text)+1) {
		v.tell(paintHistory(line, i == 0, v.colours))
	}
}

// A span is code of one style.
type span struct {
	text  string
	style style
}

// A codeLine is a line of code. Its mark is + or - where it is there no more or
// is new, a blank where others have such a mark, and 0 where none has.
type codeLine struct {
	mark  byte
	spans []span
}

// rows draws a line in as many lines of the terminal as it needs. They say which
// of them go on: no line of code looks like two.
func (l codeLine) rows(columns int, colours bool) []string {
	frame := strings.Repeat(" ", margin) + "│ "
	if l.mark != 0 {
		frame += string(l.mark) + " "
	}
	room := max(1, columns-width(frame))
	row, used := faint.paint(frame, colours), 0
	var rows []string
	for _, s := range l.spans {
		for text := revealed(s.text); text != ""; {
			if used == room {
				rows = append(rows, row)
				row, used = faint.paint(strings.Replace(frame, "│", "┊", 1), colours), 0
			}
			head, rest := split(text, room-used)
			if used > 0 && used+width(head) > room { // one wide character
				used = room
				continue
			}
			row, used, text = row+s.style.paint(head, colours), used+width(head), rest
		}
	}
	return append(rows, strings.TrimRight(row, " "))
}

// revealed is code as a terminal may show it: what it would obey, and what cannot
// be seen, stands there as an escape.
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
		case unicode.IsPrint(r) && marks <= maxMarks:
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		}
	}
	return b.String()
}

// pythonToken matches comments, strings and keywords of Python, well enough for
// colours.
var pythonToken = regexp.MustCompile(`(#[^\n]*)|(\b[rbfuRBFU]{1,2})?("""(?s:\\.|[^\\])*?"""|'''(?s:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|` +
	`\b(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|` +
	`nonlocal|not|or|pass|raise|return|try|while|with|yield)\b`)

// highlighted returns the lines of Python code with their styles.
func highlighted(code string) [][]span {
	lines := [][]span{nil}
	add := func(text string, s style) {
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
		add(code[end:at[0]], normal)
		kind := strong
		if at[2] >= 0 {
			kind = faint
		} else if at[6] >= 0 {
			kind = good
		}
		add(code[at[0]:at[1]], kind)
		end = at[1]
	}
	add(code[end:], normal)
	return lines
}

// codeLines are the lines of code, and those of the version before that it lacks.
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
			lines = append(lines, codeLine{'-', []span{{was[i], bad}}})
		}
		for ; j < same[1]; j++ {
			lines = append(lines, codeLine{'+', []span{{is[j], good}}})
		}
		if i < len(was) && j < len(is) {
			lines = append(lines, codeLine{' ', now[j]})
			i, j = i+1, j+1
		}
	}
	return lines
}

// common returns the places in a and b of a longest common subsequence. Of what
// is too long for that only the beginning is compared.
func common(a, b []string) (pairs [][2]int) {
	const most = 3000
	n, m := min(len(a), most), min(len(b), most)
	length := make([][]int32, n+1) // of that of a[i:] and b[j:]
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

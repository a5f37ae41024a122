package compare

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a diff.
const (
	diffContext = 2   // lines around a change
	diffLines   = 40  // maximum number of lines
	diffWidth   = 110 // maximum width of a line, in characters
)

// diffTexts returns a unified diff of two texts, or "" if they are equal within the tolerance.
// Marks below a changed line show the new numbers.
func diffTexts(a, b string, tolerance float64) string {
	if sameText(a, b, tolerance) {
		return ""
	}
	was, is := textLines(a), textLines(b)
	all := gaps(align(was, is,
		func(x, y string) bool { same, _, _ := compareTokens(x, y, tolerance); return same }), len(was),
		len(is))
	if len(all) == 0 { // only white space
		all = gaps(align(was, is, func(x, y string) bool { return x == y }), len(was), len(is))
	}
	if len(all) == 0 {
		return "only one of them ends with a line break\n"
	}
	d := diff{tolerance: tolerance}
	for n, g := range all {
		start := max(0, g.from[1]-diffContext)
		if n == 0 && start > 0 || n > 0 && start > d.shown {
			d.line(fmt.Sprintf("@@ line %d @@", start+1))
		}
		for i := max(start, d.shown); i < g.from[1]; i++ {
			d.line(" " + window(is[i], 0))
		}
		d.gap(was[g.from[0]:g.to[0]], is[g.from[1]:g.to[1]])
		d.shown = min(len(is), g.to[1]+diffContext)
		if n+1 < len(all) {
			d.shown = min(d.shown, all[n+1].from[1])
		}
		for i := g.to[1]; i < d.shown; i++ {
			d.line(" " + window(is[i], 0))
		}
	}
	if d.left > 0 {
		fmt.Fprintf(&d.text, "… %d more lines\n", d.left)
	}
	return d.text.String()
}

// textLines returns the lines of a text. A line break at the end does not begin another line.
func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// A diff is a unified diff under construction.
type diff struct {
	tolerance float64
	text      strings.Builder
	lines     int // number of lines in text
	left      int // number of omitted lines
	shown     int // lines of the new text shown or skipped
}

func (d *diff) line(text string) {
	if d.lines >= diffLines {
		d.left++
		return
	}
	d.lines++
	d.text.WriteString(text + "\n")
}

// gap shows replaced lines, in pairs if there are equally many old and new lines.
func (d *diff) gap(was, is []string) {
	if len(was) != len(is) {
		for _, line := range was {
			d.line("-" + window(line, 0))
		}
		for _, line := range is {
			d.line("+" + window(line, 0))
		}
		return
	}
	for i := range was {
		marks, at := marked(was[i], is[i], d.tolerance)
		d.line("-" + window(was[i], at))
		d.line("+" + window(is[i], at))
		if marks != "" {
			d.line("?" + strings.TrimRight(window(marks, at), " …"))
		}
	}
}

// marked returns marks below the changed numbers of a line, "" if words changed too, and the
// position of the first change, in characters.
func marked(was, is string, tolerance float64) (marks string, at int) {
	var b strings.Builder
	at = -1
	for i, j := 0, 0; i < len(was) && j < len(is); {
		t, u := next(was, i), next(is, j)
		if t.space && !u.space {
			i += len(t.text)
			continue
		}
		width, sign := utf8.RuneCountInString(u.text), " "
		if !t.space && !u.space && !t.same(u, tolerance) {
			if at < 0 {
				at = utf8.RuneCountInString(is[:j])
			}
			if !t.numeric() || !u.numeric() {
				return "", at
			}
			sign = "^"
		}
		b.WriteString(strings.Repeat(sign, width))
		j += len(u.text)
		if t.space || !u.space {
			i += len(t.text)
		}
	}
	return strings.TrimRight(b.String(), " "), max(at, 0)
}

// window returns the part of a long line around a position, in characters.
func window(line string, at int) string {
	line = strings.ReplaceAll(line, "\t", " ")
	if utf8.RuneCountInString(line) <= diffWidth {
		return line
	}
	runes := []rune(line)
	from := 0
	if at > diffWidth-30 {
		from = min(at-diffWidth/2, len(runes))
	}
	to := min(from+diffWidth, len(runes))
	text := string(runes[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(runes) {
		text += "…"
	}
	return text
}

// alignLimit limits the work of align. Beyond it, everything between the first and the last change
// counts as changed.
const alignLimit = 1 << 20

// align returns the pairs of positions of a longest common subsequence of a and b, in order.
func align[T any](a, b []T, same func(T, T) bool) [][2]int {
	var pairs [][2]int
	begin := 0
	for begin < len(a) && begin < len(b) && same(a[begin], b[begin]) {
		pairs = append(pairs, [2]int{begin, begin})
		begin++
	}
	end := 0
	for end < len(a)-begin && end < len(b)-begin && same(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	pairs = append(pairs, alignMiddle(a[begin:len(a)-end], b[begin:len(b)-end], begin, same)...)
	for ; end > 0; end-- {
		pairs = append(pairs, [2]int{len(a) - end, len(b) - end})
	}
	return pairs
}

func alignMiddle[T any](a, b []T, offset int, same func(T, T) bool) [][2]int {
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > alignLimit {
		return nil
	}
	wide := len(b) + 1
	length := make([]int32, (len(a)+1)*wide) // of the longest subsequence from (i, j) on
	equal := make([]bool, len(length))
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			at := i*wide + j
			if equal[at] = same(a[i], b[j]); equal[at] {
				length[at] = length[at+wide+1] + 1
			} else {
				length[at] = max(length[at+wide], length[at+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch at := i*wide + j; {
		case equal[at]:
			pairs = append(pairs, [2]int{offset + i, offset + j})
			i, j = i+1, j+1
		case length[at+wide] >= length[at+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// A gap is the part between two pairs. from and to are positions in both sequences.
type gap struct{ from, to [2]int }

// gaps returns the gaps that pairs of align leave in sequences of n and m elements.
func gaps(pairs [][2]int, n, m int) []gap {
	var all []gap
	at := [2]int{}
	for _, p := range append(pairs, [2]int{n, m}) {
		if p != at {
			all = append(all, gap{at, p})
		}
		at = [2]int{p[0] + 1, p[1] + 1}
	}
	return all
}

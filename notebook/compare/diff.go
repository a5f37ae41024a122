package compare

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Limits of a diff.
const (
	diffLines = 40  // maximum number of lines
	diffWidth = 110 // maximum width of a line, in characters
)

// diffTexts returns a unified diff of two texts, or "" if they are equal within the tolerance.
func diffTexts(a, b string, tolerance float64) string {
	if sameText(a, b, tolerance) {
		return ""
	}
	if end := "\n"; !strings.HasSuffix(a, end) && !strings.HasSuffix(b, end) && a != "" && b != "" {
		a, b = a+end, b+end // that both have none is not told
	}
	// Lines with the same numbers within the tolerance are the same: those of a show those of b.
	was, now := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for i := range min(len(was), len(now)) {
		if alike, _ := compareTokens(was[i], now[i], tolerance); alike {
			was[i] = now[i]
		}
	}
	text := diff.Diff("", []byte(strings.Join(was, "")), "", []byte(b))
	if text == nil { // only white space
		text = diff.Diff("", []byte(a), "", []byte(b))
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[3:] // after the names
	if strings.HasPrefix(lines[0], "@@ -0,") || strings.HasPrefix(lines[0], "@@ -1,") {
		lines = lines[1:]
	}
	return bounded(lines)
}

// bounded returns the first lines of a diff, and of each what is around the first change.
func bounded(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i == diffLines {
			fmt.Fprintf(&b, "… %d more lines\n", len(lines)-i)
			break
		}
		at, other := 1, ""
		switch {
		case line[0] == '-' && i+1 < len(lines):
			other = lines[i+1]
		case line[0] == '+' && i > 0:
			other = lines[i-1]
		}
		for at < min(len(line), len(other)) && line[at] == other[at] {
			at++
		}
		fmt.Fprintf(&b, "%s%s\n", line[:1], window(line[1:], at-1))
	}
	return b.String()
}

// window returns the part of a long line around a position.
func window(line string, at int) string {
	line = strings.ReplaceAll(line, "\t", " ")
	if utf8.RuneCountInString(line) <= diffWidth {
		return line
	}
	from, begin, end := utf8.RuneCountInString(line[:at])-diffWidth/2, "", ""
	runes := []rune(line)
	if from > 0 {
		runes, begin = runes[from:], "…"
	}
	if len(runes) > diffWidth {
		runes, end = runes[:diffWidth], "…"
	}
	return begin + string(runes) + end
}

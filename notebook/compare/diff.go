package compare

import (
	"fmt"
	"strings"

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
	for i, line := range lines[:min(len(lines), diffLines)] {
		other := " "
		switch {
		case line[0] == '-' && i+1 < len(lines):
			other = lines[i+1]
		case line[0] == '+' && i > 0:
			other = lines[i-1]
		}
		fmt.Fprintf(&b, "%s%s\n", line[:1], window(line[1:], other[1:]))
	}
	if more := len(lines) - diffLines; more > 0 {
		fmt.Fprintf(&b, "… %d more lines\n", more)
	}
	return b.String()
}

// window returns the part of a long line around where it begins to differ from another one.
func window(line, other string) string {
	chars, others := []rune(strings.ReplaceAll(line, "\t", " ")), []rune(other)
	at, begin, end := 0, "", ""
	for at < min(len(chars), len(others)) && chars[at] == others[at] {
		at++
	}
	if from := at - diffWidth/2; len(chars) > diffWidth && from > 0 {
		chars, begin = chars[from:], "…"
	}
	if len(chars) > diffWidth {
		chars, end = chars[:diffWidth], "…"
	}
	return begin + string(chars) + end
}

package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"dsstar/notebook"
)

// volatile matches text that differs on every run and is not a result. What may be a result stays:
// dates and times, bare hexadecimal numbers, paths.
var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	// Addresses: <matplotlib.lines.Line2D at 0x7f…>, R's <environment: 0x55…>; ids of threads.
	{regexp.MustCompile(`\b(at|environment:|bytecode:|pointer:) 0x[0-9A-Fa-f]+`), "$1 0x…"},
	{regexp.MustCompile(`\b(started(?: daemon)?) [0-9]+\)>`), "$1 …)>"},
	// %time, %%time, %timeit.
	{regexp.MustCompile(`(?m)^( *(?:CPU times|Wall time)):.*$`), "$1: …"},
	{regexp.MustCompile(`(?m)^.+ ± .+ per loop \(mean ± std\. dev\. of .*$`), "… per loop"},
	{regexp.MustCompile(`(?m)^The slowest run took .*$`), "The slowest run took …"},
	// A cell's file and number, in warnings and printed tracebacks.
	{regexp.MustCompile(`[^\s"'<>()]*[/\\]ipykernel_\d+[/\\]\d+\.py`), "cell.py"},
	{regexp.MustCompile(`<ipython-input-\d+-[0-9a-f]+>`), "cell.py"},
	{regexp.MustCompile(`\bCell In ?\[\d+\]`), "Cell In[…]"},
	// The process id in warnings about forks; names made by Python's tempfile.
	{regexp.MustCompile(`\(pid=\d+\)`), "(pid=…)"},
	{regexp.MustCompile(`/(?:gokernel|dsstar)-[0-9]+(\.tmp)?/tmp/`), "/"}, // the sandbox's
	{regexp.MustCompile(`([/\\]tmp)[a-z0-9_]{8}\b`), "$1…"},
	// The times of tqdm: [00:01<00:00, 9.91it/s].
	{regexp.MustCompile(`\[(?:\d+:)?\d+:\d+<[^\]\n]*\]`), "[…]"},
	// The date in matplotlib's SVG.
	{regexp.MustCompile(`<dc:date>[^<]*</dc:date>`), "<dc:date/>"},
}

// set matches a set with texts of Python, whose order differs on every run.
var (
	set     = regexp.MustCompile(`\{` + member + `(?:, ` + member + `)+\}`)
	members = regexp.MustCompile(member)
)

const member = `(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[\w.+-]+)`

// stable removes colours and volatile text, and sorts sets.
func stable(text string) string {
	text = notebook.StripANSI(text)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return set.ReplaceAllStringFunc(text, func(set string) string {
		all := members.FindAllString(set, -1)
		slices.Sort(all)
		return "{" + strings.Join(all, ", ") + "}"
	})
}

// randomID matches random ids of elements: UUIDs, and those of pandas' Styler and of matplotlib's
// SVG.
var randomID = regexp.MustCompile(
	`\bid="(?:[^"]*([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})|(T_[0-9a-f]{5})[^"]*|((?:[A-Za-z]|image)[0-9a-f]{10}))`)

// withoutIDs numbers the random ids of HTML or SVG, wherever they occur.
func withoutIDs(text string) string {
	var pairs []string
	seen := map[string]bool{}
	for _, m := range randomID.FindAllStringSubmatch(text, -1) {
		id := m[1] + m[2] + m[3] // only one of them matched
		if !seen[id] {
			seen[id] = true
			pairs = append(pairs, id, fmt.Sprintf("id-%d", len(seen)))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// token matches a word, a number, or another character. A number with a decimal point or a signed
// exponent is a float. 1.2.3 is a version, and 12e5 part of a hash: Python and R write the sign.
var (
	token = regexp.MustCompile(`[A-Za-z_\x{80}-\x{10ffff}][0-9A-Za-z_\x{80}-\x{10ffff}]*|` +
		`[-+]?(?:\d+(?:\.\d+)*|\.\d+)(?:[eE][-+]\d+)?|\S`)
	float = regexp.MustCompile(`^[-+]?\d*(?:\.\d+(?:[eE][-+]\d+)?|[eE][-+]\d+)$`)
)

// compareTokens reports whether two texts are equal within the tolerance apart from white space,
// and whether equal numbers have different digits.
func compareTokens(a, b string, tolerance float64) (alike, rewritten bool) {
	x, y := token.FindAllString(a, -1), token.FindAllString(b, -1)
	return slices.EqualFunc(x, y, func(t, u string) bool {
		rewritten = rewritten || t != u
		return t == u || sameFloat(t, u, tolerance)
	}), rewritten
}

// sameFloat reports whether two tokens are floats that are equal within the tolerance.
func sameFloat(t, u string, tolerance float64) bool {
	if !float.MatchString(t) || !float.MatchString(u) {
		return false
	}
	v, err := strconv.ParseFloat(t, 64)
	w, e := strconv.ParseFloat(u, 64)
	apart, larger := math.Abs(v-w), max(math.Abs(v), math.Abs(w))
	return err == nil && e == nil && (v == w || apart <= tolerance*larger)
}

// Limits of a diff.
const (
	diffLines = 40  // maximum number of lines
	diffWidth = 110 // maximum width of a line, in characters
)

// diffTexts returns a unified diff of two texts, or "" if they are equal within the tolerance.
func diffTexts(a, b string, tolerance float64) string {
	alike, rewritten := compareTokens(a, b, tolerance)
	if a == b || alike && rewritten { // white space differs with the width of numbers
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

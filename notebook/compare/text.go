package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// sameText reports whether two texts are equal within the tolerance. White space may differ if
// equal numbers have different digits, and therefore different widths.
func sameText(a, b string, tolerance float64) bool {
	alike, rewritten := compareTokens(a, b, tolerance)
	return a == b || alike && rewritten
}

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

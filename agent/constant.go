package agent

import (
	"regexp"
	"strings"
)

// usesResults reports whether a last cell draws on anything that was computed:
// it names something that an earlier cell names, or reads the data itself. A
// cell that does neither can only print a constant that the model made up or
// copied.
func usesResults(last, earlier string) bool {
	if strings.Contains(last, "data/") {
		return true
	}
	known := map[string]bool{}
	for _, name := range names(earlier) {
		known[name] = true
	}
	for _, name := range names(last) {
		if known[name] {
			return true
		}
	}
	return false
}

// name matches an identifier with the character before it, which is a dot when
// it is an attribute's.
var name = regexp.MustCompile(`(?:^|[^\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_]*)`)

// common are names that are the same in any two cells: keywords, built-in
// functions, customary names of modules, arguments of print.
var common = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`and as assert break class continue def del elif else False finally for
		from if import in is lambda None not or pass raise return True try while with yield
		abs all any bool dict enumerate filter float format int isinstance len list map max min print range repr
		reversed round set sorted str sum tuple type zip end sep file flush
		collections datetime itertools json math matplotlib np numpy os pandas pathlib pd plt random re scipy sklearn sys
		base_dir data_dir question`) {
		set[word] = true
	}
	return set
}()

// names lists the identifiers of Python code that are neither common nor
// attributes.
func names(code string) []string {
	code = withoutStrings(code)
	var all []string
	for _, m := range name.FindAllStringSubmatchIndex(code, -1) {
		word := code[m[2]:m[3]]
		if !common[word] && !strings.HasSuffix(code[:m[2]], ".") {
			all = append(all, word)
		}
	}
	return all
}

// literal matches a comment, or a string with its prefix.
var literal = regexp.MustCompile(`(?s)([fFrRbBuUtT]{0,2})("""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|#[^\n]*`)

var replacement = regexp.MustCompile(`\{([^{}]*)\}`)

// withoutStrings blanks strings and comments, but keeps the code that stands in
// the braces of f-strings.
func withoutStrings(code string) string {
	return literal.ReplaceAllStringFunc(code, func(s string) string {
		m := literal.FindStringSubmatch(s)
		if !strings.ContainsAny(m[1], "fF") {
			return ` "" `
		}
		var b strings.Builder
		for _, inner := range replacement.FindAllStringSubmatch(m[2], -1) {
			b.WriteString(" " + inner[1] + " ")
		}
		return b.String()
	})
}

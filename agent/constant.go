package agent

import (
	"strings"

	"dsstar/notebook/lazy"
)

// usesResults reports whether a last cell uses computed results: whether it reads a variable
// of an earlier cell before it assigns the name, or reads a data file. Otherwise it can only
// print a constant that the model made up or copied.
func usesResults(last, earlier string) bool {
	if readsData(last) {
		return true
	}
	known := map[string]bool{}
	for _, line := range strings.Split(withoutStrings(earlier), "\n") {
		for _, n := range names(line) {
			known[n] = true
		}
	}
	for line := range strings.SplitSeq(withoutStrings(last), "\n") {
		targets, reads := binding(line)
		for _, n := range names(reads) {
			if known[n] {
				return true
			}
		}
		for _, n := range names(targets) {
			delete(known, n) // from here on it is the last cell's own
		}
	}
	return false
}

var (
	assignment = lazy.Regexp(
		`^(\s*[\p{L}_][\p{L}\p{N}_]*(?:\s*,\s*[\p{L}_][\p{L}\p{N}_]*)*)\s*(?::[^=\n]+)?=([^=].*)?$`,
	)
	loop       = lazy.Regexp(`^(\s*(?:async\s+)?for\s+.+?)\s+in\s+(.+)$`)
	definition = lazy.Regexp(`^(\s*(?:import|from|def|class)\s.*)$`)
)

// binding splits a line into the names that it assigns and the code that it reads first.
func binding(line string) (targets, reads string) {
	if m := assignment().FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	if m := loop().FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	if m := definition().FindStringSubmatch(line); m != nil {
		return m[1], ""
	}
	return "", line
}

// name matches an identifier.
var name = lazy.Regexp(`(?:^|[^\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_]*)`)

// common are names that any two cells share: keywords, built-in functions, usual module
// names, arguments of print.
var common = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`and as assert break class continue def del elif else False finally for
		from if import in is lambda None not or pass raise return True try while with yield
		abs all any bool dict enumerate filter float format int isinstance len list map max min print range repr
		reversed round set sorted str sum tuple type zip end sep file flush
		collections datetime itertools json math matplotlib np numpy os pandas pathlib pd plt random re scipy sklearn sys
		base_dir data_dir data_path question`) {
		set[word] = true
	}
	return set
}()

// names lists the identifiers of Python code except common names and attributes.
func names(code string) []string {
	var all []string
	for _, m := range name().FindAllStringSubmatchIndex(code, -1) {
		word := code[m[2]:m[3]]
		if !common[word] && !strings.HasSuffix(code[:m[2]], ".") {
			all = append(all, word)
		}
	}
	return all
}

// literal matches a comment, or a string with its prefix.
var literal = lazy.Regexp(
	`(?s)([fFrRbBuUtT]{0,2})("""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|#[^\n]*`,
)

// replacement matches the code in the braces of an f-string. The closing brace is missing if
// the code uses the quotes of the string (Python 3.12).
var replacement = lazy.Regexp(`\{([^{}]*)\}?`)

// readsData reports whether a string in the code names a data file.
func readsData(code string) bool {
	for _, m := range literal().FindAllStringSubmatch(code, -1) {
		if text := strings.TrimLeft(m[2], `"'`); strings.HasPrefix(text, "data/") ||
			strings.HasPrefix(text, "./data/") {
			return true
		}
	}
	return false
}

// withoutStrings blanks strings and comments but keeps the code in the braces of f-strings.
func withoutStrings(code string) string {
	return literal().ReplaceAllStringFunc(code, func(s string) string {
		m := literal().FindStringSubmatch(s)
		if !strings.ContainsAny(m[1], "fF") {
			return ` "" `
		}
		var b strings.Builder
		for _, inner := range replacement().FindAllStringSubmatch(m[2], -1) {
			b.WriteString(" " + inner[1] + " ")
		}
		return b.String()
	})
}

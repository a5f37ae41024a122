package lesson

import (
	"slices"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

// A Tool is a function of a file in tools/.
type Tool struct {
	Name string `json:"name"`
	Code string `json:"code"` // with its comment lines above, without imports
	Test string `json:"test"` // of tests/NAME.py; "" if there is none
}

// Signature returns the lines from def to the colon, and the docstring, as the model is shown them:
// of a function in one line, that line.
func (t Tool) Signature() (signature, doc string) {
	found := signaturePattern().FindStringSubmatch(t.Code)
	if found == nil {
		return defLines().FindString(t.Code), ""
	}
	return found[1], strings.TrimSpace(found[2] + found[3])
}

var (
	signaturePattern = lazy.Regexp(`(?ms)^(def .*?:)[ \t]*(?:#[^\n]*)?$` +
		`(?:\s*[rR]?(?:"""(.*?)"""|'''(.*?)'''))?`)
	defLines = lazy.Regexp(`(?m)^def .*`)
)

// From returns the comments of the cases: the question that the function comes from.
func (t Tool) From() string {
	var all []string
	for line := range strings.Lines(t.Test) {
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			all = append(all, strings.TrimSpace(comment))
		}
	}
	return strings.Join(all, "\n")
}

var (
	caseLine   = lazy.Regexp(`(?m)^assert .*\n?`)
	defLine    = lazy.Regexp(`^def\s+([A-Za-z_][A-Za-z0-9_]*)\s*\(`)
	importLine = lazy.Regexp(`^(?:import|from)\s+[\w.]+(?:\s+(?:import|as)\s+[\w, ]+)?\s*(?:#.*)?$`)
)

// Functions takes the imports and functions of the text of a Python file; the last of a name
// counts. Problems are the first lines of what else it has. Decorated functions are left out, since
// a decorator runs code when it is read.
func Functions(text string) (l Lesson) {
	at := map[string]int{}        // where a function is in l.Tools
	above, decorated := "", false // comment lines before a function
	for _, part := range Parts(text) {
		code := strings.TrimRight(part, " \n")
		found := defLine().FindStringSubmatch(part)
		switch {
		case strings.HasPrefix(part, "#"):
			if above += part; strings.HasSuffix(above, "\n\n") {
				above = ""
			}
			continue
		case code == "":
			continue
		case found != nil && !decorated:
			i, known := at[found[1]]
			if !known {
				i, at[found[1]] = len(l.Tools), len(l.Tools)
				l.Tools = append(l.Tools, Tool{Name: found[1]})
			}
			l.Tools[i].Code = above + code
		case importLine().MatchString(code):
			l.Imports = append(l.Imports, code)
		default:
			line, _, _ := strings.Cut(code, "\n")
			l.Problem("%s", line)
		}
		above, decorated = "", strings.HasPrefix(part, "@")
	}
	return l
}

// Import adds import lines that are not there yet.
func (l *Lesson) Import(lines []string) {
	seen := map[string]bool{}
	l.Imports = slices.DeleteFunc(slices.Concat(l.Imports, lines), func(line string) bool {
		again := seen[line]
		seen[line] = true
		return again
	})
}

// Needed returns the functions that some code names, and those that they call, in their order.
func Needed(tools []Tool, code string) []Tool {
	known := make(map[string]int, len(tools))
	for i, t := range tools {
		known[t.Name] = i
	}
	wanted := map[string]bool{}
	var want func(code string)
	want = func(code string) {
		for word := range Words(code) {
			if i, ok := known[word]; ok && !wanted[word] {
				wanted[word] = true
				want(tools[i].Code)
			}
		}
	}
	want(code)
	return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return !wanted[t.Name] })
}

// Words returns the different words of a text or code.
func Words(text string) map[string]bool {
	all := map[string]bool{}
	parts := func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	for w := range strings.FieldsFuncSeq(text, parts) {
		all[w] = true
	}
	return all
}

// Module returns the source of functions with the imports that they need; "" if there are none.
func Module(imports []string, tools []Tool) string {
	var parts, tests []string
	for _, t := range tools {
		parts, tests = append(parts, t.Code), append(tests, t.Test)
	}
	named := Words(strings.Join(append(tests, parts...), "\n"))
	// The others might be of packages that only other functions need, and that are not there.
	needed := slices.DeleteFunc(slices.Clone(imports), func(line string) bool {
		return !slices.ContainsFunc(boundBy(line), func(name string) bool { return named[name] })
	})
	if len(needed) > 0 {
		parts = append([]string{strings.Join(needed, "\n")}, parts...)
	}
	return strings.Join(parts, "\n\n\n")
}

// boundBy returns the names that an import line binds.
func boundBy(line string) (names []string) {
	line, _, _ = strings.Cut(line, "#")
	_, list, _ := strings.Cut(line, "import ")
	for part := range strings.SplitSeq(list, ",") {
		if fields := strings.Fields(part); len(fields) > 0 {
			name, _, _ := strings.Cut(fields[len(fields)-1], ".")
			names = append(names, name)
		}
	}
	return names
}

package memory

import (
	"strings"

	"dsstar/notebook/lazy"
)

var (
	defLine    = lazy.Regexp(`^def\s+([A-Za-z_][A-Za-z0-9_]*)\s*\(`)
	importLine = lazy.Regexp(`^(?:import|from)\s+[\w.]+(?:\s+(?:import|as)\s+[\w, ]+)?\s*(?:#.*)?$`)
	docPattern = lazy.Regexp(`(?s)^\s*[rR]?("""|''')(.*?)("""|''')`)
)

// A module is what counts of the text of a Python file.
type module struct {
	imports []string
	tools   []Tool
	others  []string // the beginnings of other lines
}

// parse takes the imports and functions of a module; other statements are left out. Decorated
// functions are, too, since a decorator runs code when it is read.
func parse(text string) (m module) {
	var above, body []string // comment lines before a function, and its lines
	at := map[string]int{}   // index of a function in m.tools; the last of a name counts
	name := ""
	flush := func() {
		if name != "" {
			code := strings.TrimRight(strings.Join(append(above, body...), "\n"), "\n ")
			if i, ok := at[name]; ok {
				m.tools[i].Code = code
			} else {
				at[name] = len(m.tools)
				m.tools = append(m.tools, Tool{Name: name, Code: code})
			}
			above = nil
		}
		name, body = "", nil
	}
	skip := false // the line before is a decorator
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indented := line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") ||
			name != "" && strings.HasPrefix(line, ")")
		decorated := skip
		skip = strings.HasPrefix(line, "@") || skip && strings.HasPrefix(line, "#")
		switch found := defLine().FindStringSubmatch(line); {
		case indented && name != "":
			body = append(body, line)
		case found != nil && !decorated:
			flush()
			name, body = found[1], []string{line}
		case strings.HasPrefix(line, "#"):
			flush()
			above = append(above, line)
		case importLine().MatchString(line):
			flush()
			above = nil
			m.imports = append(m.imports, line)
		case line == "":
			above = nil
		default:
			flush()
			above = nil
			m.others = append(m.others, clip(line))
		}
	}
	flush()
	m.imports = different(m.imports)
	return m
}

func clip(line string) string {
	if r := []rune(line); len(r) > 60 {
		return string(r[:60]) + " …"
	}
	return line
}

// Signature returns the lines from def to the colon, and the docstring, as the model is shown them.
func (t Tool) Signature() (signature, doc string) {
	at := strings.Index("\n"+t.Code, "\ndef ")
	if at < 0 {
		return "", ""
	}
	code := t.Code[at:]
	end := signatureEnd(code)
	if found := docPattern().FindStringSubmatch(code[end:]); found != nil && found[1] == found[3] {
		doc = strings.TrimSpace(found[2])
	}
	return strings.TrimSpace(code[:end]), doc
}

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

// signatureEnd returns the index after the colon that ends a signature.
func signatureEnd(code string) int {
	depth, quote := 0, rune(0)
	for i, r := range code {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ':' && depth == 0:
			return i + 1
		}
	}
	return len(code)
}

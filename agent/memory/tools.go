package memory

import (
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

// A Tool is a function of tools.py.
type Tool struct {
	Name string `json:"name"`
	Code string `json:"code"` // with its comment lines above, without imports
	Test string `json:"test"` // of tests/NAME.py; "" if there is none
}

var (
	defLine    = lazy.Regexp(`^def\s+([A-Za-z_][A-Za-z0-9_]*)\s*\(`)
	importLine = lazy.Regexp(`^(?:import|from)\s+[\w.]+(?:\s+(?:import|as)\s+[\w, ]+)?\s*(?:#.*)?$`)
	docPattern = lazy.Regexp(`(?s)^\s*[rR]?("""|''')(.*?)("""|''')`)
)

// readTools takes the imports and functions of a module; other statements are left out. Decorated
// functions are, too, since a decorator runs code when it is read.
func (m *Memory) readTools(text string) {
	var above, body []string // comment lines before a function, and its lines
	name := ""
	flush := func() {
		if name != "" {
			code := strings.TrimRight(strings.Join(append(above, body...), "\n"), "\n ")
			m.Tools = append(slices.DeleteFunc(m.Tools, func(t Tool) bool { return t.Name == name }),
				Tool{Name: name, Code: code})
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
			if !slices.Contains(m.Imports, line) {
				m.Imports = append(m.Imports, line)
			}
		case line == "":
			above = nil
		default:
			flush()
			above = nil
			m.problem("%s: only imports and plain functions count; left out: %s", toolsFile, clip(line))
		}
	}
	flush()
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

// readTests gives each function its cases.
func (m *Memory) readTests() error {
	for i, t := range m.Tools {
		text, err := m.read(filepath.Join(testsFolder, t.Name+".py"))
		if err != nil {
			return err
		}
		m.Tools[i].Test = text
	}
	return nil
}

// Needed returns the functions that some code names, and those that they call, in their order.
func Needed(tools []Tool, code string) []Tool {
	wanted := map[string]bool{}
	var want func(code string)
	want = func(code string) {
		for _, word := range wordPattern().FindAllString(code, -1) {
			i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == word })
			if i >= 0 && !wanted[word] {
				wanted[word] = true
				want(tools[i].Code)
			}
		}
	}
	want(code)
	return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return !wanted[t.Name] })
}

var wordPattern = lazy.Regexp(`[\p{L}\p{N}_]+`)

// Module returns the source of functions with the imports; "" if there are none.
func Module(imports []string, tools []Tool) string {
	var parts []string
	if len(imports) > 0 {
		parts = append(parts, strings.Join(imports, "\n"))
	}
	for _, t := range tools {
		parts = append(parts, t.Code)
	}
	if len(tools) == 0 {
		return ""
	}
	return strings.Join(parts, "\n\n\n")
}

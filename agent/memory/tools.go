package memory

import (
	"context"
	"os"
	"slices"
	"strings"
	"unicode"
)

// A Tool is a function of a file in tools/.
type Tool struct {
	Name string `json:"name"`
	Code string `json:"code"` // with its comment lines above, without imports
	Test string `json:"test"` // of tests/NAME.py; "" if there is none
}

// readToolFiles reads the functions, each from a file of its name, with their cases.
func (m *Memory) readToolFiles(ctx context.Context, folder *os.Root) error {
	if _, err := folder.Lstat("tools.py"); err == nil {
		m.problem("tools.py is left out: a function belongs in a file of its name in %s/", toolsFolder)
	}
	names, err := namesIn(folder, toolsFolder, ".py")
	if err != nil {
		return err
	}
	for _, name := range names {
		what := "the function " + name + " is"
		text, err := m.read(ctx, folder, fileOf(toolsFolder, name), what)
		if err != nil {
			return err
		}
		if i := m.readTool(name, text); i >= 0 {
			if m.Tools[i].Test, err = m.read(ctx, folder, fileOf(testsFolder, name), what); err != nil {
				return err
			}
		}
	}
	m.addImports(nil)
	return nil
}

// readTool takes the function and the imports of its file, and returns the function's index; -1 if
// there is none.
func (m *Memory) readTool(name, text string) int {
	if text == "" {
		return -1
	}
	found := parse(text)
	for _, line := range found.others {
		m.problem("%s: only imports and plain functions count; left out: %s", fileOf(toolsFolder, name), line)
	}
	at := -1
	for _, t := range found.tools {
		if t.Name != name {
			m.problem("%s: the function %s is left out: it belongs in %s", fileOf(toolsFolder, name), t.Name,
				fileOf(toolsFolder, t.Name))
			continue
		}
		at = len(m.Tools)
		m.Tools = append(m.Tools, t)
		m.Imports = append(m.Imports, found.imports...)
	}
	if at < 0 {
		m.problem("%s has no function %s", fileOf(toolsFolder, name), name)
	}
	return at
}

func (m *Memory) addImports(lines []string) {
	m.Imports = different(append(m.Imports, lines...))
}

// different returns lines without those that repeat an earlier one.
func different(lines []string) (all []string) {
	seen := map[string]bool{}
	for _, line := range lines {
		if !seen[line] {
			seen[line] = true
			all = append(all, line)
		}
	}
	return all
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
		for word := range words(code) {
			if i, ok := known[word]; ok && !wanted[word] {
				wanted[word] = true
				want(tools[i].Code)
			}
		}
	}
	want(code)
	return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return !wanted[t.Name] })
}

// words returns the different words of a text or code.
func words(text string) map[string]bool {
	all := map[string]bool{}
	parts := func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	for _, w := range strings.FieldsFunc(text, parts) {
		all[w] = true
	}
	return all
}

// Module returns the source of functions with the imports that they need; "" if there are none.
func Module(imports []string, tools []Tool) string {
	if len(tools) == 0 {
		return ""
	}
	var parts []string
	var tests strings.Builder
	for _, t := range tools {
		parts = append(parts, t.Code)
		tests.WriteString(t.Test + "\n")
	}
	code := strings.Join(parts, "\n\n\n")
	if needed := importsFor(imports, code+"\n"+tests.String()); len(needed) > 0 {
		return strings.Join(needed, "\n") + "\n\n\n" + code
	}
	return code
}

// importsFor returns the import lines that bind a name of some code. The others might be of packages
// that only other functions need, and that are not there.
func importsFor(imports []string, code string) (needed []string) {
	named := words(code)
	for _, line := range imports {
		if slices.ContainsFunc(boundBy(line), func(name string) bool { return named[name] }) {
			needed = append(needed, line)
		}
	}
	return needed
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

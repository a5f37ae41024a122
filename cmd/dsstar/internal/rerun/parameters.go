package rerun

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
)

// injected is papermill's tag for the cell that overrides the parameters.
const injected = "injected-parameters"

// A parameter is a variable with its value, as a Python expression.
type parameter struct{ name, value string }

var (
	assignment = regexp.MustCompile(`^\s*([\p{L}_][\p{L}\p{N}_]*)\s*=(?s:(.*))$`)
	number     = regexp.MustCompile(`^([+-]?)(?:0*(\d+)|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)$`)
	words      = map[string]string{"True": "True", "true": "True", "False": "False", "false": "False",
		"None": "None", "null": "None", "nan": `float("nan")`}
)

// parametersOf reads parameters as --parameters has them.
func parametersOf(flags []string) (all []parameter, err error) {
	for _, flag := range flags {
		part := assignment.FindStringSubmatch(flag)
		if part == nil {
			return nil, usage.New(fmt.Sprintf("--parameters: %q is not name=value", flag),
				usage.Again("--parameters", "year=2024"))
		}
		all = append(all, parameter{part[1], inPython(part[2])})
	}
	return all, nil
}

// inPython returns a value as papermill reads it: a truth value, None, a number, or else text.
// Unlike there, quotes around it make it text.
func inPython(value string) string {
	word := strings.TrimSpace(value)
	if python, ok := words[word]; ok {
		return python
	}
	if number.MatchString(word) {
		return number.ReplaceAllString(word, "$1$2$3$4") // Python has no 007
	}
	if text, ok := pythonString(word); ok {
		return brief.Python(text)
	}
	return brief.Python(value)
}

// inject has the cell with the tag for it set variables. A new cell goes directly after the cell
// with the tag parameters, or before the first cell with code if none has that tag.
func inject(set []parameter, nb *notebook.Notebook) {
	if len(set) == 0 {
		return
	}
	at := codeCell(nb, injected)
	if at < 0 {
		if at = codeCell(nb, "parameters") + 1; at == 0 {
			at = max(0, codeCell(nb, ""))
		}
		id := injected
		for slices.ContainsFunc(nb.Cells, func(c notebook.Cell) bool { return c.ID == id }) {
			id += "-1"
		}
		cell := notebook.Cell{ID: id, Type: notebook.Code, Source: "# Parameters\n",
			Metadata: map[string]any{"tags": []any{injected}}}
		nb.Cells = slices.Insert(nb.Cells, at, cell)
	}
	for _, v := range set {
		nb.Cells[at].Source = assign(nb.Cells[at].Source, v)
	}
}

// codeCell returns the position of the first cell with code that has a tag, or of the first of all
// without one; -1 if there is none.
func codeCell(nb *notebook.Notebook, tag string) int {
	return slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool {
		return c.Type == notebook.Code && (tag == "" || slices.Contains(c.Tags(), tag))
	})
}

// assign returns a source that gives a variable a value: in place of the first line that sets it,
// or at the end.
func assign(source string, v parameter) string {
	line := v.name + " = " + v.value
	at := regexp.MustCompile(`(?m)^` + v.name + `[ \t]*=(?:[^=\n].*)?$`).FindStringIndex(source)
	if at == nil {
		return strings.TrimRight(source, "\n") + "\n" + line + "\n"
	}
	return source[:at[0]] + line + source[at[1]:]
}

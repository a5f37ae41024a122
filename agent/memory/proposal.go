package memory

import (
	"slices"
	"strings"
)

// Propose reads facts, as items of a list, and functions, each code with imports, a function and
// lines of cases that begin with assert. Facts without a source and functions without a case are left
// out and told in Problems.
func Propose(text string, code []string) *Memory {
	m := &Memory{}
	m.readFacts(text)
	m.Facts = slices.DeleteFunc(m.Facts, func(f Fact) bool {
		if f.Source == "" {
			m.problem("a fact without a source: %s", f.Text)
		}
		return f.Source == ""
	})
	for _, block := range code {
		var cases, rest strings.Builder
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "assert ") {
				cases.WriteString(line)
			} else {
				rest.WriteString(line)
			}
		}
		found := parse(rest.String())
		for _, line := range found.others {
			m.problem("only imports and plain functions count: %s", line)
		}
		m.addImports(found.imports)
		for _, t := range found.tools {
			t.Test = casesOf(t.Name, cases.String())
			m.Tools = append(slices.DeleteFunc(m.Tools, func(o Tool) bool { return o.Name == t.Name }), t)
		}
	}
	m.Tools = slices.DeleteFunc(m.Tools, func(t Tool) bool {
		if t.Test == "" {
			m.problem("the function %s has no case", t.Name)
		}
		return t.Test == ""
	})
	return m
}

// casesOf returns the cases that call a function.
func casesOf(name, cases string) string {
	var b strings.Builder
	for line := range strings.Lines(cases) {
		if words(line)[name] {
			b.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	return b.String()
}

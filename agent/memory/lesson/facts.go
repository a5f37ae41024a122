// Package lesson has what an answer teaches about data, and the text that people and models write
// it in: facts, items of a list of Markdown, and functions, in Python. Nothing here runs code: only
// imports and functions count.
package lesson

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

// A Lesson is what an answer teaches, or all that is known about data.
type Lesson struct {
	Facts    []Fact
	Tools    []Tool
	Imports  []string // lines that the functions may need
	Problems []string // what was left out, in words
}

// Problem tells of what is left out.
func (l *Lesson) Problem(format string, args ...any) {
	l.Problems = append(l.Problems, fmt.Sprintf(format, args...))
}

// Put adds a function, in place of one of its name.
func (l *Lesson) Put(t Tool) {
	named := func(o Tool) bool { return o.Name == t.Name }
	l.Tools = append(slices.DeleteFunc(l.Tools, named), t)
}

// A Fact is a definition or rule, with where it comes from.
type Fact struct {
	Text   string `json:"text"`
	Source string `json:"source"` // "manual.md, section 5"; "" if none is given
}

// String returns the fact as an item of facts.md.
func (f Fact) String() string {
	if f.Source == "" {
		return f.Text
	}
	return f.Text + sourceMark + f.Source
}

// sourceMark separates a fact from its source.
const sourceMark = " — source: "

// Facts reads the items of a list. Of equal facts, which a merge leaves, the last counts.
func Facts(text string) (all []Fact) {
	known := map[string]bool{}
	for _, part := range slices.Backward(Parts(text)) {
		if f, ok := FactIn(part); ok && f.Text != "" && !known[f.Text] {
			all = append(all, f)
			known[f.Text] = true
		}
	}
	slices.Reverse(all)
	return all
}

// Parts returns a text in parts: a line each, with those below it that are indented, empty or begin
// with a closing bracket.
func Parts(text string) (all []string) {
	begin, end := 0, 0
	for line := range strings.Lines(text) {
		if end > begin && !strings.ContainsAny(line[:1], " \t)") && strings.TrimSpace(line) != "" {
			all = append(all, text[begin:end])
			begin = end
		}
		end += len(line)
	}
	if end > begin {
		all = append(all, text[begin:end])
	}
	return all
}

// FactIn returns the fact of a list's item.
func FactIn(part string) (f Fact, ok bool) {
	item, ok := strings.CutPrefix(part, "- ")
	if !ok {
		item, ok = strings.CutPrefix(part, "* ")
	}
	text, source, _ := strings.Cut(brief.OneLine(item), sourceMark)
	return Fact{strings.TrimSpace(text), strings.TrimSpace(source)}, ok
}

// Propose reads facts, as items of a list, and functions, each code with imports, a function and
// lines of cases that begin with assert. Facts without a source and functions without a case are
// left out and told in Problems.
func Propose(text string, code []string) *Lesson {
	l := &Lesson{}
	l.Facts = slices.DeleteFunc(Facts(text), func(f Fact) bool {
		if f.Source == "" {
			l.Problem("a fact without a source: %s", f.Text)
		}
		return f.Source == ""
	})
	for _, block := range code {
		found := Functions(caseLine().ReplaceAllString(block, ""))
		for _, line := range found.Problems {
			l.Problem("only imports and plain functions count: %.60s", line)
		}
		l.Import(found.Imports)
		for _, t := range found.Tools {
			for _, line := range caseLine().FindAllString(block, -1) {
				if Words(line)[t.Name] {
					t.Test += strings.TrimRight(line, "\n") + "\n"
				}
			}
			l.Put(t)
		}
	}
	l.Tools = slices.DeleteFunc(l.Tools, func(t Tool) bool {
		if t.Test == "" {
			l.Problem("the function %s has no case", t.Name)
		}
		return t.Test == ""
	})
	return l
}

// Package lesson has what an answer teaches about data, and the text that people and models write
// it in: facts, items of a list of Markdown, and functions, in Python. Nothing here runs code: only
// imports, functions and their cases count.
package lesson

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// A Lesson is what an answer teaches, or all that is known about data.
type Lesson struct {
	Facts    []Fact
	Tools    []Tool
	Problems []string // what was left out, in words
}

// Problem tells of what is left out.
func (l *Lesson) Problem(format string, args ...any) {
	l.Problems = append(l.Problems, fmt.Sprintf(format, args...))
}

// Propose reads facts, as items of a list, and functions, each a text as of a file. Facts without a
// source and functions without a case are left out and told in Problems.
func Propose(text string, functions []string) *Lesson {
	l := &Lesson{}
	for _, f := range Facts(text) {
		if f.Source == "" {
			l.Problem("a fact without a source: %s", f.Text)
			continue
		}
		l.Facts = append(l.Facts, f)
	}
	for _, text := range functions {
		t, out := ToolIn(text, "")
		for _, line := range out {
			l.Problem("only imports and plain functions count: %.60s", line)
		}
		switch {
		case t.Test != "":
			l.Tools = append(l.Tools, t)
		case t.Name != "":
			l.Problem("the function %s has no case", t.Name)
		}
	}
	return l
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

// Facts reads the items of a list.
func Facts(text string) (all []Fact) {
	for _, part := range parts(text) {
		if !strings.HasPrefix(part, "- ") && !strings.HasPrefix(part, "* ") {
			continue
		}
		text, source, _ := strings.Cut(brief.OneLine(part[2:]), sourceMark)
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, Fact{text, strings.TrimSpace(source)})
		}
	}
	return all
}

// parts returns a text in parts: a line each, with those below it that are indented, empty or begin
// with a closing bracket.
func parts(text string) (all []string) {
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

// A Tool is a function that earlier answers left.
type Tool struct {
	Name    string   `json:"name"`
	Imports []string `json:"imports,omitempty"` // lines
	Code    string   `json:"code"`              // with its comment lines above
	Test    string   `json:"test"`              // its cases, below comments; "" if there are none
	Binds   bool     `json:"binds,omitempty"`   // a definition has it
}

// String returns the function as the text of a file.
func (t Tool) String() string {
	return strings.TrimRight(Module([]Tool{t})+"\n\n\n"+t.Test, "\n") + "\n"
}

var (
	defLine    = lazy.Regexp(`^def\s+([A-Za-z_][A-Za-z0-9_]*)\s*\(`)
	importLine = lazy.Regexp(`^(?:import|from)\s+[\w.]+(?:\s+(?:import|as)\s+[\w, ]+)?\s*(?:#.*)?$`)
)

// ToolIn takes imports, a function and its cases out of a text; of more functions it has the others
// in its code, and its name is that of the last, unless one is given. Beside it are the first lines
// of what else the text has.
func ToolIn(text, name string) (t Tool, out []string) {
	var code []string
	above := "" // comment lines
	for _, part := range parts(text) {
		trimmed := strings.TrimRight(part, " \n")
		found := defLine().FindStringSubmatch(part)
		switch {
		case strings.HasPrefix(part, "#"):
			above += part
			continue
		case found != nil:
			code = append(code, above+trimmed)
			if name == "" || found[1] == name {
				t.Name = found[1]
			}
		case strings.HasPrefix(part, "assert "):
			t.Test += above + trimmed + "\n"
		case importLine().MatchString(trimmed):
			t.Imports = append(t.Imports, trimmed)
		case trimmed != "":
			line, _, _ := strings.Cut(trimmed, "\n")
			out = append(out, line)
		}
		above = ""
	}
	t.Code = strings.Join(code, "\n\n\n")
	return t, out
}

// Head returns the lines from def to the end of the docstring, as the model is shown them: of a function
// in one line, that line.
func (t Tool) Head() string {
	def := `(?ms)^def ` + regexp.QuoteMeta(t.Name) + `\b`
	lines := regexp.MustCompile(def + `.*?:[ \t]*(?:#[^\n]*)?$(?:\s*[rR]?(?:""".*?"""|'''.*?'''))?`)
	return cmp.Or(lines.FindString(t.Code), regexp.MustCompile(def+`[^\n]*`).FindString(t.Code))
}

// Needed returns the functions that some code names, and those that they call, in their order.
func Needed(tools []Tool, code string) []Tool {
	wanted := map[string]bool{}
	var want func(code string)
	want = func(code string) {
		named := Words(code)
		for _, t := range tools {
			if named[t.Name] && !wanted[t.Name] {
				wanted[t.Name] = true
				want(t.Code)
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

// Module returns the source of functions, below the imports of all.
func Module(tools []Tool) string {
	var imports, parts []string
	for _, t := range tools {
		imports, parts = append(imports, t.Imports...), append(parts, t.Code)
	}
	slices.Sort(imports)
	if imports = slices.Compact(imports); len(imports) > 0 {
		parts = slices.Insert(parts, 0, strings.Join(imports, "\n"))
	}
	return strings.Join(parts, "\n\n\n")
}

// A Section is a heading of Markdown and the text below it, up to the next heading: their offsets in
// the text, whose last line has an end.
type Section struct {
	Level, Line, Begin, Body, End int
	Title                         string
}

// Sections finds the headings of a text.
func Sections(said string) (all []Section) {
	said = strings.TrimSuffix(said, "\n") + "\n"
	end := func(at int) int { return at + strings.IndexByte(said[at:], '\n') + 1 } // of a line
	line, counted := 1, 0
	top := goldmark.DefaultParser().Parse(text.NewReader([]byte(said)))
	for n := top.FirstChild(); n != nil; n = n.NextSibling() {
		heading, is := n.(*ast.Heading)
		if !is || heading.Lines().Len() == 0 {
			continue
		}
		first, last := heading.Lines().At(0), heading.Lines().At(heading.Lines().Len()-1)
		s := Section{Level: heading.Level, Begin: strings.LastIndexByte(said[:first.Start], '\n') + 1,
			Body: end(last.Start), End: len(said), Title: strings.TrimSpace(said[first.Start:last.Stop])}
		if !strings.HasPrefix(strings.TrimLeft(said[s.Begin:], " "), "#") {
			s.Body = end(s.Body) // behind the line that underlines it
		}
		line += strings.Count(said[counted:s.Begin], "\n")
		if counted, s.Line = s.Begin, line; len(all) > 0 {
			all[len(all)-1].End = s.Begin
		}
		all = append(all, s)
	}
	return all
}

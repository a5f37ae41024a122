// Package lineage says where the answer of cells comes from, as a program sees it that reads their
// code as a syntax tree and runs none of it. [Script] is Python that prints what [Parse] reads.
// What the program cannot follow, it says nothing about.
package lineage

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

//go:embed *.py
var sources embed.FS

// python returns what some of the files say.
func python(names ...string) (all string) {
	for _, name := range names {
		text, _ := sources.ReadFile(name) // it is embedded
		all += string(text) + "\n\n"
	}
	return all
}

// A Kind says what a cell with an answer is.
type Kind string

const (
	Last   Kind = "last"   // it prints the answer of the cells before it
	Second Kind = "second" // its last line is the answer, derived from nothing but the data
	Branch Kind = "branch" // its last line is the answer under another reading
)

// A Query is a cell that gives an answer, with what its code is compared with.
type Query struct {
	Kind     Kind     `json:"kind"`
	Cells    []string `json:"cells"` // that run before it, without those that set the session up
	Code     string   `json:"code"`
	First    []string `json:"first"` // the cells of the first derivation with its last; not for Last
	Question string   `json:"question"`
}

// Found is what the program has found, in sentences. Zero: nothing.
type Found struct {
	Problem string   `json:"problem"` // of a cell, which must be written anew
	Doubts  []string `json:"doubts"`  // about the answer
}

// Script returns Python that needs no files. The first line of what it prints is for [Parse].
func Script(q Query) string {
	request, _ := json.Marshal(q) // strings cannot fail
	return python("values.py", "lineage.py") + "main(json.loads(" + brief.Python(string(request)) + "))\n"
}

// Parse reads what the script has printed. Nothing is found if it was not the script that printed.
func Parse(printed string) (f Found) {
	_ = json.Unmarshal([]byte(printed), &f)
	return f
}

// Apart returns Python that prints, for each of some lists of cells, the earlier questions on which
// they do not build: their numbers, from 0, as JSON.
func Apart(earlier [][]string, lists ...[]string) string {
	request, _ := json.Marshal([]any{earlier, lists}) // strings cannot fail
	return python("values.py", "apart.py") +
		"main(*json.loads(" + brief.Python(string(request)) + "))\n"
}

// Elsewhere returns a script that runs as if on another computer, on which folders list their files
// the other way round and which has one more processor.
func Elsewhere(script string) string { return python("elsewhere.py") + script }

// Watch returns a cell that has a session watch what pandas does for the cells that follow, and a
// cell after them that ends it and prints what [Watched] reads; "" if they do not use pandas. The
// cells see no other names.
func Watch(cells []string) (begin, end string) {
	if !slices.ContainsFunc(cells, func(code string) bool { return strings.Contains(code, "pandas") }) {
		return "", ""
	}
	list, _ := json.Marshal(cells) // strings cannot fail
	begin = "exec(" + brief.Python(fmt.Sprintf(`import sys, types
module = sys.modules["dsstar_watch"] = types.ModuleType("dsstar_watch")
exec(%s, module.__dict__)
module.install(__import__("json").loads(%s))`, brief.Python(python("constants.py", "watch.py")),
		brief.Python(string(list)))) + ", {})"
	return begin, `__import__("sys").modules.pop("dsstar_watch").report(globals())`
}

// Watched says what was seen, for a question: doubts about the answer, and notes for whoever reads
// it.
func Watched(printed, question string) (doubts, notes []string) {
	var seen struct {
		Merges []struct {
			Line              string
			Left, Rows, Pairs int
			Matching          [2]int // rows of each side that have a partner
			Many              bool   // more pairs than either side has such rows
		}
		Absent []struct {
			Column, Value, Like string // Column "": it was looked for in some other way
			Numbers             bool   // the column holds numbers
		}
	}
	if json.Unmarshal([]byte(printed), &seen) != nil {
		return nil, nil
	}
	for _, m := range seen.Merges {
		if m.Many {
			doubts = append(doubts, fmt.Sprintf(
				"a merge makes %d rows of the %d and %d that match each other: %s", m.Pairs,
				m.Matching[0], m.Matching[1], m.Line))
		} else if m.Rows < m.Left {
			notes = append(notes, fmt.Sprintf("a merge kept %d of %d rows: %s", m.Rows, m.Left, m.Line))
		}
	}
	for _, a := range seen.Absent {
		none := fmt.Sprintf("no row has %q", a.Value)
		if a.Column != "" {
			none += fmt.Sprintf(" in %s, with which a cell compares", a.Column)
		}
		switch {
		case a.Numbers:
			doubts = append(doubts, none+": the column holds numbers, no text")
		case a.Like != "":
			doubts = append(doubts, fmt.Sprintf("%s; rows have %q", none, a.Like))
		case !strings.Contains(question, a.Value):
			doubts = append(doubts, none)
		}
	}
	slices.Sort(doubts)
	slices.Sort(notes)
	return slices.Compact(doubts), slices.Compact(notes)
}

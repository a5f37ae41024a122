// Package lineage says where the answer of cells comes from, as a program sees it that reads their
// code as a syntax tree and runs none of it. [Script] is Python that prints what [Parse] reads.
// What the program cannot follow, it says nothing about.
package lineage

import (
	"embed"
	"encoding/json"

	"dsstar/agent/brief"
)

//go:embed *.py
var sources embed.FS

// python returns what some of the files say.
func python(names ...string) (all string) {
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
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

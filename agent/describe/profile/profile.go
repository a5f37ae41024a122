// Package profile says what is in a data file, as a program sees it. [Script] is Python that
// prints the profiles of files as JSON documents; [Profile.Text] is what a request shows of one.
package profile

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"
)

//go:embed dsstar_profile/*.py
var sources embed.FS

//go:embed loader.py
var loader string

// Load is Python that loads what most readers want, to be run first in a process: its children have
// that at once. Arrow takes memory from the system, since it reserves 1 GB elsewhere: that counts
// toward the bounds of a reader.
const Load = `import os
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
import pandas
`

// Program returns Python that makes the modules from their sources, once per process. It needs no
// files.
var Program = sync.OnceValue(func() string {
	var b strings.Builder
	names, _ := fs.Glob(sources, "dsstar_profile/*.py") // they are embedded
	for _, name := range names {
		source, _ := sources.ReadFile(name)
		module := strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__")
		fmt.Fprintf(&b, "%q: %q,\n", strings.ReplaceAll(module, "/", "."), source)
	}
	return "import sys\n\n_sources = {\n" + b.String() + "}\n\n" + loader
})

// Bounds are those of a call of the program.
type Bounds struct {
	File   time.Duration // how long it may look into one file
	Within time.Duration // after which it begins with no other file
	Jobs   int           // files that it looks into at once; it begins with so many at least
}

// Script returns Python that prints a line for each file that it looked into: the mark, the number
// of its path and its profile.
func Script(paths []string, b Bounds, mark string) string {
	list, _ := json.Marshal(paths) // which Python reads, too
	return call("workers", "%s, %.0f, %d, %.1f, %q", list, b.File.Seconds(), b.Jobs, b.Within.Seconds(),
		mark)
}

// Values returns Python that lists the values of the columns of files whose names match patterns,
// which are those of shells. It prints a line for each file: the mark, the number of its path, and
// a [Listing] in JSON; then one for all, whose problem is a pattern that matches no column.
func Values(paths, patterns []string, b Bounds, mark string) string {
	list, _ := json.Marshal(paths) // which Python reads, too
	names, _ := json.Marshal(patterns)
	return call("masked", "%s, %s, %.0f, %.1f, %q", list, names, b.File.Seconds(), b.Within.Seconds(),
		mark)
}

func call(module, format string, args ...any) string {
	return Program() + "_main = sys.modules[\"dsstar_profile." + module + "\"].main\n" +
		"_main(" + fmt.Sprintf(format, args...) + ")\n"
}

// A Listing is what is listed of a file.
type Listing struct {
	Columns map[string][]string `json:"columns"` // values by the name of their column
	Problem string              `json:"problem"` // why they could not be listed
	Named   bool                `json:"named"`   // it has the name of a column, though no such column
}

// A Profile is what a program found in a file, in words of which a request shows some.
type Profile struct {
	Format   string  `json:"format"`
	Headline string  `json:"headline"` // format, encoding, delimiter, and its structure
	Line     string  `json:"line"`     // what is told of it if it is far from the question
	About    string  `json:"about"`    // its names and words, to rank it by
	Document string  `json:"text"`     // its text, of a document
	Sections []int   `json:"sections"` // where those of Document begin
	Lists    []bool  `json:"lists"`    // which of them list words and what they mean
	Codebook bool    `json:"codebook"` // Document lists words and what they mean
	Cut      bool    `json:"cut"`      // Document is only its beginning
	Whole    bool    `json:"whole"`    // Document is its content, and there is no more to say
	Notes    string  `json:"notes"`    // what misleads who does not know it
	Problem  string  `json:"problem"`  // why it could not be read to its end
	Cause    string  `json:"cause"`    // of Problem; "": none of those below
	Tables   []Table `json:"tables"`
	// Structure is the same of files with the same tables and columns; "": there are none.
	Structure string            `json:"structure"`
	Count     string            `json:"count"` // of the rows of its tables
	Reads     map[string]string `json:"reads"` // what it has to be read with; see [differ]
	Holds     map[string]string `json:"holds"` // what else files of its structure have otherwise
}

// Causes of problems.
const (
	NoLogin  = "login"  // a server refuses user or password
	NoTime   = "time"   // it takes too long
	Locked   = "locked" // another program has locked the file
	NoDriver = "driver" // this Python lacks the library that reads it
)

// Known reports whether the program understood the file.
func (p Profile) Known() bool { return p.Problem == "" && p.Format != "binary" }

// A Table is one of the tables in a file.
type Table struct {
	Name     string   `json:"name"`
	Headline string   `json:"headline"` // name, rows, columns, where it is, keys
	Count    string   `json:"count"`    // of its rows, as it is known: about so many, not counted
	LeftOut  int      `json:"columns_left_out"`
	Names    []string `json:"names"` // of columns with types, in order
	Columns  []Column `json:"columns"`
	Misleads string   `json:"misleads"` // who does not know it: a call of pandas that was run, notes
	Around   string   `json:"around"`   // what stands above and below it
	Holds    string   `json:"holds"`    // between its columns
	Row      string   `json:"row"`      // the first row
	Every    string   `json:"every"`    // all rows, if they are few
	Explains bool     `json:"explains"`
}

// A Column is one of a table's.
type Column struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`  // number, date, text, boolean, list, empty or another
	Brief   string   `json:"brief"` // what is said of it; "": Line
	Line    string   `json:"line"`
	Full    string   `json:"full"`  // with all values or more of them; "": Line
	Said    string   `json:"said"`  // what its values do not show
	Group   string   `json:"group"` // what is said of it and those after it together
	Grouped bool     `json:"grouped"`
	Keep    bool     `json:"keep"`  // it may decide whether a row counts
	Among   []string `json:"among"` // values that a question may name
}

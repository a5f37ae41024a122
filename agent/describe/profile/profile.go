// Package profile says what is in a data file, as a program sees it. [Script] is Python that
// prints the profile of the file at path as one JSON document, which [Parse] reads;
// [Profile.Text] is what a request shows of it, and [Relate] tells which columns of several
// files hold the same values.
package profile

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"dsstar/agent/brief"
)

//go:embed dsstar_profile/*.py
var sources embed.FS

// modules are the modules of the package dsstar_profile, each after those that it needs.
var modules = []string{"columns", "grids", "nested", "texts", "found", "readers",
	"formats", "databases", "buckets", "clusters", "profile"}

// Script returns Python that prints the profile of the file at path, a name that is set before, within
// so many seconds. It needs no files of its own: its modules are made from their sources, once per
// process.
func Script(seconds int) string {
	var b strings.Builder
	b.WriteString("import sys, types\n\n")
	for _, name := range append([]string{"__init__"}, modules...) {
		source, err := sources.ReadFile("dsstar_profile/" + name + ".py")
		if err != nil {
			panic(err) // it is embedded
		}
		full := "dsstar_profile." + name
		if name == "__init__" {
			full = "dsstar_profile"
		}
		fmt.Fprintf(&b, `if %[1]q not in sys.modules:
    sys.modules[%[1]q] = _module = types.ModuleType(%[1]q)
    _module.__path__ = []
    exec(compile(%[2]s, %[1]q, "exec"), _module.__dict__)
`, full, brief.Python(string(source)))
	}
	fmt.Fprintf(&b, "sys.modules[\"dsstar_profile.profile\"].main(path, %d)\n", seconds)
	return b.String()
}

// A Profile is what a program found in a file.
type Profile struct {
	Bytes     int64    `json:"bytes"`
	Format    string   `json:"format"`
	Encoding  string   `json:"encoding"`
	Delimiter string   `json:"delimiter"`
	Document  string   `json:"text"` // its text, of a document
	Cut       bool     `json:"cut"`  // Document is only its beginning
	Lines     []string `json:"lines"`
	Warnings  []string `json:"warnings"`
	Problem   string   `json:"problem"` // why it could not be read to its end
	Cause     string   `json:"cause"`   // of Problem; "": none of those below
	Tables    []Table  `json:"tables"`
}

// Causes of problems.
const (
	NoLogin = "login"  // a server refuses user or password
	NoTime  = "time"   // it takes too long
	Locked  = "locked" // another program has locked the file
)

// Known reports whether the program understood the file.
func (p Profile) Known() bool { return p.Problem == "" && p.Format != "binary" }

// A Table is one of the tables in a file.
type Table struct {
	Name       string     `json:"name"`
	Where      string     `json:"where"`
	Rows       int        `json:"rows"`
	Guessed    bool       `json:"guessed"` // Rows, from the file's size
	Sample     int        `json:"sample"`  // rows that the figures are from; 0 for all
	LeftOut    int        `json:"columns_left_out"`
	Columns    []Column   `json:"columns"`
	Keys       [][]string `json:"keys"`
	Follows    []string   `json:"follows"`
	Gaps       []string   `json:"gaps"` // which columns are missing in the same rows
	Duplicates int        `json:"duplicates"`
	Raw        []string   `json:"raw"` // the file's first lines, if the table begins below them
	Head       []string   `json:"head"`
	Foot       []string   `json:"foot"`
	Warnings   []string   `json:"warnings"`
	First      [][]string `json:"first"`
}

// A Column is one of a table's. Its figures are of all rows if Whole, and else of those read.
type Column struct {
	Name     string         `json:"name"`
	Type     string         `json:"type"` // number, date, text, boolean, list or empty
	Integer  bool           `json:"integer"`
	Distinct int            `json:"distinct"`
	Whole    bool           `json:"whole"` // Distinct, about, Gone and Range are of all rows
	Gone     int            `json:"gone"`
	Missing  map[string]int `json:"missing"` // by what stands for it
	Range    [2]any         `json:"range"`
	Without  []any          `json:"without"` // the range without a marker of missing
	Values   []Value        `json:"values"`  // all
	Frequent []Value        `json:"frequent"`
	Examples []string       `json:"examples"`
	Form     string         `json:"form"` // of dates
	FormNote string         `json:"notes_form"`
	Lengths  [2]int         `json:"lengths"` // of lists
	Empty    int            `json:"empty"`   // lists
	Unique   bool           `json:"unique"`
	Notes    []string       `json:"notes"`
	Sketch   []uint32       `json:"sketch"`
}

// A Value is a value and how often it is there.
type Value struct {
	Text  string
	Count int
}

// UnmarshalJSON reads a pair of value and count.
func (v *Value) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[2]any{&v.Text, &v.Count})
}

// MarshalJSON writes a pair of value and count.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal([2]any{v.Text, v.Count}) }

// Parse reads what the script has printed.
func Parse(text string) (Profile, error) {
	var p Profile
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return Profile{}, fmt.Errorf("read a profile: %w", err)
	}
	return p, nil
}

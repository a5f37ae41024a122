package reply

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"dsstar/agent/llm"
)

// forms has the forms of replies, in words and as JSON schemas.
//
//go:embed forms
var forms embed.FS

func formFile(name string) string {
	text, err := forms.ReadFile("forms/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.TrimSuffix(string(text), "\n")
}

// form returns a form in words.
func form(name string) string { return formFile(name + ".txt") }

// schema returns a form as strict endpoints want it, under the name that they are told: every property
// is required, and there are no others. Models write the properties in their order.
func schema(file, name string) *llm.Schema {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(formFile(file+".json"))); err != nil {
		panic(err) // the file is no JSON
	}
	return &llm.Schema{Name: name, JSON: b.Bytes()}
}

// branchForm returns the form of a branch's cell, with the number of the first one that is asked
// for.
func branchForm(asked []Branch) string {
	return strings.Replace(form("branch"), "NUMBER", fmt.Sprintf("%d.%d", asked[0].Point, asked[0].Option), 1)
}

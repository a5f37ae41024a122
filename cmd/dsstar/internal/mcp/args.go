package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// texts is a list of texts. A text alone is a list of one: models write that, too.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var one *string
	if json.Unmarshal(data, &one) == nil && one != nil {
		*t = texts{*one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

type askArgs struct {
	Question   string `json:"question"`
	Data       texts  `json:"data,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	Guidelines string `json:"guidelines,omitempty"`
}

type followUpArgs struct {
	Question   string `json:"question"`
	Run        string `json:"run,omitempty"`
	Guidelines string `json:"guidelines,omitempty"`
}

type continueArgs struct {
	Run    string `json:"run,omitempty"`
	Choose string `json:"choose,omitempty"`
}

type goBackArgs struct {
	Step int    `json:"step"`
	Note string `json:"note,omitempty"`
	Run  string `json:"run,omitempty"`
}

type describeArgs struct {
	Data     texts  `json:"data,omitempty"`
	Question string `json:"question,omitempty"`
}

type runsArgs struct {
	Words texts `json:"words,omitempty"`
}

type rerunArgs struct {
	Notebook string `json:"notebook,omitempty"`
	Data     string `json:"data,omitempty"`
	Write    bool   `json:"write,omitempty"`
}

// arguments are what a model is told of the arguments: of one tool, as tool.argument, or of all.
var arguments = map[string]string{
	"ask.question": "the whole question, in plain language, as for a colleague who knows the files " +
		"but not this conversation",
	"data": "paths of folders or files, or patterns such as sales/*.csv; default: all that this " +
		"server may read",
	"ask.kernel": "ask about the variables of this running Jupyter kernel (a name of list_kernels, " +
		"or the path of its notebook), perhaps with data; only if the user asks for it",
	"guidelines": "the form of the answer, such as: a number with two decimals",

	"follow_up.question": "the next question; it may refer to the one before",
	"run":                "the name or folder of the run; default: the newest",

	"choose": "the option of an open reading that the user means, as choose of that option has it; only " +
		"if the user says so",

	"step": "the number of the first step to drop, from 1, as the headings of the notebook have it",
	"note": "what to do otherwise, in a sentence; without it the same step may be written again",

	"describe_data.question": "what will be asked, which chooses files if there are very many",

	"words": "only runs whose question, answer or name has all these words",

	"notebook":            "the path of any notebook, or a run; default: the newest run",
	"rerun_notebook.data": "another data folder than the notebook's",
	"write":               "write NAME.rerun.ipynb beside it, instead of comparing outputs",
}

// schemaOf returns the schema of a tool's arguments.
func schemaOf[In any](tool string) *jsonschema.Schema {
	// An array alone: some clients do not take alternatives.
	list := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[texts](): list}})
	if err != nil {
		panic(err) // the types are those above
	}
	for name, argument := range schema.Properties {
		argument.Description = cmp.Or(arguments[tool+"."+name], arguments[name])
	}
	return schema
}

// kinds are the types of arguments in words.
var kinds = map[string]string{"string": "a text", "array": "a list of texts", "integer": "a whole number",
	"boolean": "true or false"}

// readArguments reads the arguments of a call. Its errors are for a model, which then calls again.
func readArguments(data json.RawMessage, schema *jsonschema.Schema, into any) error {
	given := map[string]json.RawMessage{}
	if len(data) > 0 && json.Unmarshal(data, &given) != nil {
		return errors.New("the arguments must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		argument, known := schema.Properties[name]
		if !known {
			return fmt.Errorf("there is no argument %s, only: %s", name,
				strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", "))
		}
		one, err := json.Marshal(map[string]json.RawMessage{name: given[name]})
		if err != nil {
			return err
		}
		if json.Unmarshal(one, into) != nil {
			return fmt.Errorf("%s must be %s: %s", name, kinds[argument.Type], argument.Description)
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return fmt.Errorf("%s is missing: %s", name, schema.Properties[name].Description)
		}
	}
	return nil
}

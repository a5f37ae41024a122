package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is a command of dsstar that prints JSON. A word of its command line with {name} stands there
// once for each value of that argument, {@name} with a space before, so that an @ names no file; one
// with {?name} if there is a value. Values come from outside: they are parts of flags, or stand
// after --.
type tool struct {
	name, title, text, command string

	arguments []argument
	needs     string // the argument that must be given
	hints     *sdk.ToolAnnotations
}

// An argument is what a model is told of it, and the type of its JSON.
type argument struct{ name, kind, text string }

var (
	answers = &sdk.ToolAnnotations{DestructiveHint: new(bool)}
	reads   = &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	reruns  = &sdk.ToolAnnotations{DestructiveHint: new(bool), IdempotentHint: true,
		OpenWorldHint: new(bool)}
)

var (
	dataArgument = argument{"data", "array", `paths of folders or files, or patterns such as sales/*.csv;
		default: all that this server may read`}
	formArgument = argument{"guidelines", "string",
		"the form of the answer, such as: a number with two decimals"}
	runArgument = argument{"run", "string", "the name or folder of the run; default: the newest"}
)

var tools = []tool{
	{name: "ask", title: "Ask about data", hints: answers, needs: "question",
		command: "nb --progress=json --data={data} --yes{?kernel} --kernel={kernel} " +
			"--guidelines={@guidelines} -- {@question}",
		text: `Answers a question about data files or databases with a proved number, table, text or
			chart, and leaves a notebook that the user can review and re-run. Use it instead of
			writing analysis code yourself. It takes minutes; if the call is cut off, continue_run
			goes on without repeating anything.`,
		arguments: []argument{{"question", "string", `the whole question, in plain language, as for a
			colleague who knows the files but not this conversation`}, dataArgument, formArgument,
			{"kernel", "string", `ask about the variables of this running Jupyter kernel (a name of
			list_kernels, or the path of its notebook), perhaps with data; only if the user asks for it`}}},
	{name: "follow_up", title: "Ask a follow-up question", hints: answers, needs: "question",
		command: "resume --progress=json --guidelines={@guidelines} --ask={@question} -- {run}",
		text: `Asks another question in the session of a finished run, which has its data and
			variables. The run stays; the new one has all questions. Faster than ask.`,
		arguments: []argument{runArgument, formArgument, {"question", "string",
			"the next question; it may refer to the one before"}}},
	{name: "continue_run", title: "Continue a run", hints: answers,
		command: "resume --progress=json --choose={choose} -- {run}",
		text: `Continues a run that was interrupted, timed out or spent its budget, whose notebook the
			user has edited, or whose answer depends on a reading that the user chooses. Nothing that
			the model has answered is asked again.`,
		arguments: []argument{runArgument, {"choose", "string", `the option of an open reading that the
			user means, as choose of that option has it; only if the user says so`}}},
	{name: "go_back", title: "Go back in a run", hints: answers, needs: "step",
		command: "resume --progress=json --drop={step} --note={note} -- {run}",
		text: `Goes back to before a step of a run whose answer or approach is wrong: drops that step
			and all after it, and works on from there to a new answer. The notebook keeps what was
			dropped, folded.`,
		arguments: []argument{runArgument, {"step", "integer", `the number of the first step to drop,
			from 1, as the headings of the notebook have it`}, {"note", "string", `what to do
			otherwise, in a sentence; without it the same step may be written again`}}},
	{name: "describe_data", title: "Describe data", hints: reads,
		command: "describe --quiet --question={question} -- {data}",
		text: `Describes data files: tables with columns, types, ranges, missing values and keys; and
			documents. No model sees the data for this, as a rule.`,
		arguments: []argument{dataArgument, {"question", "string", `what will be asked, which chooses
			files if there are very many`}}},
	{name: "list_kernels", title: "List kernels", hints: reads, command: "kernels",
		text: "Lists the running Jupyter kernels and servers of this machine, and the kernelspecs."},
	{name: "list_runs", title: "List runs", hints: reads,
		command: "runs -- {words}",
		text: `Lists earlier questions with their answers, the newest first: whether each is verified,
			what it cost, its run folder and notebook. What is claimed is only said by the notebook,
			because another dsstar made it: continue_run checks it.`,
		arguments: []argument{{"words", "array", `only runs whose question, answer or name has all these
			words`}}},
	{name: "rerun_notebook", title: "Re-run a notebook", hints: reruns,
		command: "rerun --quiet --check --data={data} -- {notebook}",
		text: `Runs any notebook from top to bottom in a fresh kernel in a sandbox, and says which of
			its outputs, and which answers of dsstar's, are still the same.`,
		arguments: []argument{{"notebook", "string", `the path of any notebook, or a run; default: the
			newest run`}, {"data", "string", "another data folder than the notebook's"}}},
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// schema is that of the tool's arguments.
func (t tool) schema() *jsonschema.Schema {
	all := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, a := range t.arguments {
		one := &jsonschema.Schema{Type: a.kind, Description: oneLine(a.text)}
		if a.kind == "array" {
			one.Items = &jsonschema.Schema{Type: "string"}
		}
		if a.name == t.needs {
			all.Required, one.Pattern = []string{a.name}, `\S`
		}
		all.Properties[a.name] = one
	}
	return all
}

// read returns the values that a client gives for the arguments. Its errors are for a model, which
// then calls again. A text where a list is wanted is a list of one: models write that, too.
func (t tool) read(data json.RawMessage) (map[string][]string, error) {
	given, values := map[string]any{}, map[string][]string{}
	if len(data) > 0 && json.Unmarshal(data, &given) != nil {
		return nil, errors.New("the arguments must be an object")
	}
	maps.DeleteFunc(given, func(_ string, value any) bool { return value == nil })
	for _, a := range t.arguments {
		if text, ok := given[a.name].(string); ok && a.kind == "array" {
			given[a.name] = []any{text}
		}
	}
	schema, err := t.schema().Resolve(nil)
	if err == nil {
		err = schema.Validate(given)
	}
	for name, value := range given {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, one := range list {
			if text := fmt.Sprint(one); strings.TrimSpace(text) != "" {
				values[name] = append(values[name], text)
			}
		}
	}
	return values, err
}

// line is the command line for these values.
func (t tool) line(values map[string][]string) []string {
	words := []string{}
	for word := range strings.FieldsSeq(t.command) {
		before, name, _ := strings.Cut(strings.TrimSuffix(word, "}"), "{")
		given := values[strings.TrimLeft(name, "@?")]
		switch {
		case name == "", name[0] == '?' && len(given) > 0:
			words = append(words, before)
		case name[0] != '?':
			if name[0] == '@' {
				before += " "
			}
			for _, value := range given {
				words = append(words, before+value)
			}
		}
	}
	return slices.Insert(words, 1, "--json")
}

// permit completes the values that name data, runs and kernels, and refuses what a client may not name.
func (s *Server) permit(t tool, values map[string][]string) error {
	for _, a := range t.arguments {
		given := values[a.name]
		switch a.name {
		case "kernel":
			if len(given) > 0 && !s.Kernels {
				return errors.New("running kernels are not in the sandbox, and this server may not " +
					"use them: the user can start it with dsstar mcp --allow-kernels")
			}
		case "data":
			if len(given) == 0 && a.kind == "array" && len(values["kernel"]) == 0 {
				values[a.name] = s.Data
			}
			for _, one := range given {
				if err := s.MayRead(one); err != nil {
					return err
				}
			}
		case "run", "notebook":
			folder, err := s.Run(strings.Join(given, ""))
			if err != nil {
				return fmt.Errorf("%w\nlist_runs lists the runs", err)
			}
			values[a.name] = []string{folder}
		}
	}
	return nil
}

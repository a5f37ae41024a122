package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/describe"
	"dsstar/notebook/disk"
	"dsstar/prompts"
)

// A Tool is a function that the code of tasks may call (Data Interpreter, section 3.2).
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"` // in one sentence
	// name, description, parameters, returns: what coders read
	Schema json.RawMessage `json:"schema"`
	Code   string          `json:"code"` // the function's definition
}

// withTool adds a tool, in place of one with the same name.
func withTool(tools []Tool, t Tool) []Tool {
	return append(slices.DeleteFunc(tools, func(old Tool) bool { return old.Name == t.Name }), t)
}

// recommend chooses the tools for a task, and defines them in the session. The model picks some
// of the tools with the most similar descriptions (section 3.2.1). If its reply cannot be read,
// the most similar ones are taken.
func (q *inquiry) recommend(ctx context.Context, n *node) {
	if q.options.NoTools || len(q.tools) == 0 {
		return
	}
	var texts, nearest []string
	for _, t := range q.tools {
		texts = append(texts, strings.ReplaceAll(t.Name, "_", " ")+" "+t.Description)
	}
	asks := prompts.InterpreterRecommend{Instruction: n.Instruction, Most: shownTools}
	found := map[string]Tool{}
	order := describe.ByWords(n.Instruction, texts)
	for _, i := range order[:min(recalled, len(order))] {
		t := q.tools[i]
		found[t.Name], nearest = t, append(nearest, t.Name)
		asks.Tools = append(asks.Tools, prompts.Tool{Name: t.Name, Description: t.Description})
	}
	names, problem := noted(ctx, q, "Tools", "recommender", q.subject(n), toolNames, asks)
	if problem != "" {
		names = nearest
	}
	for _, name := range names {
		t, ok := found[name]
		if !ok || len(n.tools) == shownTools {
			continue
		}
		delete(found, name)
		if !q.defined[name] { // in the session
			q.defined[name], _ = q.runCode(ctx, "Tool "+name, t.Description, t.Code)
		}
		if q.defined[name] {
			n.tools = append(n.tools, string(t.Schema))
		}
	}
}

var toolNames = ask.Format[[]string]{
	Rule: "Reply with one ```json code block that holds a list of names, and nothing else.",
	Parse: func(text string) (names []string, err error) {
		if json.Unmarshal([]byte(jsonOf(text)), &names) != nil {
			return nil, errors.New("it is no list of names in JSON")
		}
		return names, nil
	},
}

// parseTool reads the schema and the code of a tool. It returns nil if the reply is "none".
func parseTool(text string) (*Tool, error) {
	t := &Tool{}
	for _, b := range ask.Blocks(text) {
		switch b.Language {
		case "json":
			t.Schema = json.RawMessage(b.Code)
		case "python":
			t.Code = b.Code
		}
	}
	if t.Schema == nil && t.Code == "" &&
		strings.HasPrefix(strings.ToLower(strings.Trim(strings.TrimSpace(text), "`*\"'")), "none") {
		return nil, nil
	}
	switch {
	case t.Schema == nil || t.Code == "":
		return nil, errors.New("it has not both a json and a python code block")
	case json.Unmarshal(t.Schema, t) != nil || t.Name == "" || t.Description == "":
		return nil, errors.New("its JSON is no schema with name and description")
	}
	return t, nil
}

var tool = ask.Format[*Tool]{Parse: parseTool,
	Rule: "Reply with a ```json and a ```python code block, and nothing else."}

// makeTool asks the model for a tool made from the code of a task, if other tasks could use it,
// tests it, and has it repaired while the test fails (section 3.2.2). A tool that does not pass
// is dropped. makeTool does nothing if no task follows and no pool keeps the tool for other
// questions.
func (q *inquiry) makeTool(ctx context.Context, n *node) {
	more := q.rounds < q.options.Steps && q.graph.next() != nil
	if !n.done || q.options.NoTools || !more && q.memory == "" {
		return
	}
	asks := prompts.InterpreterTool{Instruction: n.Instruction, Code: n.code}
	for try := 1; try <= runsOfTask; try++ {
		subject := fmt.Sprintf("%s, try %d", q.subject(n), try)
		t, _ := noted(ctx, q, "A tool", "toolmaker", subject, tool, asks)
		if t == nil {
			return
		}
		if try > 1 {
			q.debug++
		}
		name, test := "Tool "+t.Name, "Test of the tool "+t.Name
		if asks.Test == "" {
			asks.Test, _ = noted(ctx, q, test, "tester", subject, ask.Code,
				prompts.InterpreterTest{Schema: string(t.Schema), Tool: t.Code})
			if asks.Test == "" {
				return
			}
		}
		ok, shown := q.runCode(ctx, name, t.Description, t.Code)
		if ok {
			ok, shown = q.runCode(ctx, test, "", asks.Test)
		}
		if q.defined[t.Name] = ok; ok {
			q.tools, q.learnt.Tools = withTool(q.tools, *t), append(q.learnt.Tools, *t)
			return
		}
		asks.Tool, asks.Result = t.Code, shown
	}
}

// An Experience is what was learnt from a done or failed task (Data Interpreter, section
// 3.3.2).
type Experience struct {
	Task   string `json:"task"`
	Code   string `json:"code"`   // the task's last code
	Answer string `json:"answer"` // the result of that code
	Done   bool   `json:"done"`
	Lesson string `json:"lesson"` // in the model's words
}

// A lesson is what one question has taught.
type lesson struct {
	Experiences []Experience `json:"experiences"`
	Tools       []Tool       `json:"tools"`
}

// A pool is the file with the lessons of questions, by question; "": none. No other program must
// write to it at the same time.
type pool string

var adding sync.Mutex // a pool is replaced as a whole

func (m pool) read() (map[string]lesson, error) {
	all := map[string]lesson{}
	if m == "" {
		return all, nil
	}
	data, err := disk.ReadFile(string(m), disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the experience pool: %w", err)
	}
	return all, nil
}

// add stores the lesson of a question, in place of what was learnt from it before.
func (m pool) add(question string, learnt lesson) error {
	if m == "" {
		return nil
	}
	adding.Lock()
	defer adding.Unlock()
	all, err := m.read()
	if err != nil {
		return err
	}
	all[question] = learnt
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return disk.WriteFile(string(m), append(data, '\n'))
}

// reused is the number of experiences that a coder sees. The paper does not give it.
const reused = 3

// near returns the experiences most similar to a task, as text for the coder.
func near(pool []Experience, task string) (texts []string) {
	var tasks []string
	for _, e := range pool {
		tasks = append(tasks, e.Task)
	}
	order := describe.NearByWords(task, tasks, 0)
	for _, i := range order[:min(reused, len(order))] {
		e, state := pool[i], "done"
		if !e.Done {
			state = "failed"
		}
		texts = append(texts, fmt.Sprintf("Task (%s): %s\n\n%s\n\nCode:\n%s\n\nResult:\n%s", state,
			e.Task, e.Lesson, e.Code, brief.Clip(e.Answer, 1000)))
	}
	return texts
}

// reflect asks the model for the lesson of a task, if there is a pool to keep it.
func (q *inquiry) reflect(ctx context.Context, n *node) {
	if q.memory == "" || n.code == "" {
		return
	}
	text, problem := noted(ctx, q, "Lesson of task "+string(n.ID), "reflector",
		fmt.Sprintf("%s, round %d", q.subject(n), q.rounds), anything, prompts.InterpreterReflect{
			Instruction: n.Instruction, Code: n.code, Result: n.result, Failed: !n.done})
	if problem == "" {
		q.learnt.Experiences = append(q.learnt.Experiences,
			Experience{n.Instruction, n.code, n.result, n.done, text})
	}
}

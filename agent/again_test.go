package agent_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// printing is an attempt whose cell has printed a text.
func printing(code, text string) []record.Attempt {
	return []record.Attempt{{Code: code, Execution: notebook.Execution{Status: notebook.OK,
		Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}}}}
}

// TestQuestionFault: the script of an earlier question has the functions as they are now, those that
// are not known today as they were, and none that is gone. It runs only if that makes a difference.
func TestQuestionFault(t *testing.T) {
	run := &record.Trajectory{Task: record.Task{Question: "A?", Data: "data"},
		Rounds:   []record.Round{{Step: "Add.", Attempts: printing("n = total(1) + rest()", "so far: ")}},
		Final:    &record.Final{Answer: "42", Attempts: printing("print(n)", "42\n")},
		Recalled: &record.Recalled{Tools: []memory.Tool{{Name: "total", Code: "total was"}, {Name: "rest", Code: "rest was"}}}}
	tool := func(name, code string) []memory.Tool { return []memory.Tool{{Name: name, Code: code}} }
	for name, c := range map[string]struct {
		tools   []memory.Tool
		gone    []string
		prints  string
		script  string // "": none runs
		without string
		want    string // the beginning of the reason
	}{
		"the same":        {tools: tool("total", "total was")},
		"another":         {tools: tool("other", "other is math")},
		"edited":          {tools: tool("total", "total is math"), prints: "so far: 42\n", script: "total is", without: "total was"},
		"the others stay": {tools: tool("total", "total is math"), prints: "42", script: "rest was", without: "zzz"},
		"another answer":  {tools: tool("total", "total is math"), prints: "142\n", script: "total is", without: "total was", want: "the script printed another answer, at the end of: 142"},
		"gone":            {tools: tool("other", "other is math"), gone: []string{"total"}, prints: "42", script: "other is", without: "total was"},
		"renewed":         {tools: tool("total", "total is math"), gone: []string{"total"}, prints: "42", script: "total is", without: "total was"},
	} {
		script := ""
		runScript := func(_ context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
			b, err := os.ReadFile(record.Folder(dir).Script())
			script = string(b)
			return printing("", c.prints)[0].Execution, err
		}
		reason, err := agent.QuestionFault(t.Context(), runScript, record.Task{Data: "/here/data"}, run, t.TempDir(),
			[]string{"import math"}, c.tools, c.gone...)
		if err != nil || !strings.HasPrefix(reason, c.want) || c.want == "" && reason != "" {
			t.Errorf("%s: reason %q, %v", name, reason, err)
		}
		if c.script == "" && script != "" || c.script != "" && (!strings.Contains(script, c.script) ||
			strings.Contains(script, c.without) || !strings.Contains(script, `data_dir = "/here/data"`) ||
			!strings.Contains(script, "import math")) {
			t.Errorf("%s: the script\n%s", name, script)
		}
	}
}

package solver_test

import (
	"fmt"
	"strings"
	"testing"

	"dsstar/agent/bench/solver"
)

func action(what string) string { return "Thought: go on.\n\nAction: " + what }

func TestDAAgent(t *testing.T) {
	p := run(t, "da-agent", solver.Options{}, script{"da-agent": {
		action(`Bash(code="head data/a.txt")`),
		action(`Bash(code="head data/a.txt")`),
		"What now?",
		action("Python(file_path=\"./a.py\"):\n```python\nimport os\nprint('x')\n```\n\nObservation: " +
			"42\n\nThought: done\nAction: Terminate(output=\"42\")"),
		action(`SQL(file_path="data/x.sqlite", command="SELECT a, \"b\" FROM t WHERE c=(1)", ` +
			`output="direct")`),
		action(`Terminate(output="7")`),
	}})
	r := p.result
	if r.Answer != "7" || !r.Finished || r.Rounds != 6 || r.Executions != 3 {
		t.Errorf("the result is %+v", r)
	}
	same(t, "the cells", []string{`bash("head data/a.txt")`,
		"python(\"./a.py\", r'''\nimport os\nprint('x')\n''')",
		`sql("data/x.sqlite", "SELECT a, \"b\" FROM t WHERE c=(1)", "direct")`}, p.cells())
	kinds := ""
	for _, a := range r.Actions {
		kinds += a.Kind + " "
	}
	same(t, "the kinds", "bash   python sql terminate ", kinds)
	same(t, "the code", "import os\nprint('x')", r.Actions[3].Code)
	contains(t, "request 1", p.model.text(0), "What is the fee?")
	contains(t, "request 3", p.model.text(2), "its action is the last one again")
	contains(t, "request 4", p.model.text(3), "it has no action")
	contains(t, "the set-up", p.cell(t, "actions").Source, "def bash(command)", "action_seconds = 300")
}

func TestDAAgentStops(t *testing.T) {
	same3 := action(`Bash(code="ls")`)
	for name, test := range map[string]struct {
		steps  int
		rounds int
		say    []string
	}{
		"steps":      {2, 2, []string{action(`Bash(code="ls")`), action(`Bash(code="ls -l")`)}},
		"repeated":   {0, 3, []string{same3, same3, same3}},
		"unreadable": {0, 4, []string{"a", "b", "c", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := run(t, "da-agent", solver.Options{Steps: test.steps}, script{"da-agent": test.say})
			if r := p.result; r.Finished || r.Answer != "" || r.Rounds != test.rounds ||
				len(p.model.asked) != test.rounds {
				t.Errorf("the result is %+v", r)
			}
		})
	}
}

// TestDAAgentWindow: the last 15 actions are remembered, and the task always.
func TestDAAgentWindow(t *testing.T) {
	var say []string
	for i := range 19 {
		say = append(say, action(fmt.Sprintf(`Bash(code="echo %d.")`, i+1)))
	}
	p := run(t, "da-agent", solver.Options{}, script{"da-agent": append(say,
		action(`Terminate(output="FAIL")`))})
	last := p.model.asked[19]
	if n := len(last.Messages); n != 1+15*2+1 {
		t.Errorf("there are %d messages", n)
	}
	text := p.model.text(19)
	contains(t, "the last request", text, "What is the fee?", "echo 5.", "echo 19.")
	if strings.Contains(text, "echo 3.") { // only the fourth's output is left
		t.Error("the third action is remembered")
	}
	if p.result.Answer != "FAIL" || !p.result.Finished {
		t.Errorf("the result is %+v", p.result)
	}
}

package solver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/bench/solver"
	"dsstar/agent/reply"
)

// tasks is a plan of tasks "id: instruction < dependency dependency".
func tasks(lines ...string) string {
	type task struct {
		ID          string   `json:"task_id"`
		Depends     []string `json:"dependent_task_ids"`
		Instruction string   `json:"instruction"`
	}
	var all []task
	for _, line := range lines {
		line, depends, _ := strings.Cut(line, " < ")
		id, instruction, _ := strings.Cut(line, ": ")
		all = append(all, task{id, strings.Fields(depends), instruction})
	}
	data, _ := json.Marshal(all)
	return "```json\n" + string(data) + "\n```"
}

// bare omits everything but plan, code and answer.
var bare = solver.Options{Interpreter: solver.Interpreter{NoVerify: true, NoTools: true}}

func block(code string) string { return "```python\n" + code + "\n```" }

func TestInterpreterOrder(t *testing.T) {
	p := run(t, "data-interpreter", bare, script{
		"planner":  {tasks("3: Print the total < 1 2", "2: Load b < 1", "1: Load a")},
		"coder":    {block("a = 1"), block("b = 2"), block("print(b)")},
		"reporter": {"Answer: 2"},
	})
	same(t, "the cells", []string{"a = 1", "b = 2", "print(b)"}, p.cells())
	if r := p.result; r.Answer != "2" || !r.Finished || r.Rounds != 3 || r.Executions != 3 {
		t.Errorf("the result is %+v", r)
	}
	contains(t, "the coder's last request", p.model.text(3), "Task 1: Load a", "Task 2: Load b",
		"Task 3: Print the total", "b = 2")
	contains(t, "the reporter's request", p.model.text(4), "print(b)", "Load a", "```\n2\n```")
}

// TestInterpreterReplans: a failed task is debugged, then the plan changes from there on;
// earlier tasks keep their results.
func TestInterpreterReplans(t *testing.T) {
	p := run(t, "data-interpreter", bare, script{
		"planner": {
			tasks("1: Load", "2: Impossible < 1", "3: Print < 2"),
			tasks("1: Load", "2: Possible < 1", "3: Print < 2"),
		},
		"coder":    {block("a = 1\nprint(a)"), block("raise(first)"), block("b = 2"), block("print(b)")},
		"debugger": {block("raise(second)"), block("raise(third)")},
		"reporter": {"Answer: 2"},
	})
	same(t, "the cells", []string{"a = 1\nprint(a)", "raise(first)", "raise(second)", "raise(third)",
		"b = 2", "print(b)"}, p.cells())
	if r := p.result; r.Answer != "2" || !r.Finished || r.Rounds != 4 || r.DebugTries != 2 ||
		r.Failed != 3 {
		t.Errorf("the result is %+v", r)
	}
	same(t, "the requests", []string{"planner plan 1", "coder plan 1, task 1, try 1",
		"coder plan 1, task 2, try 1", "debugger plan 1, task 2, try 2",
		"debugger plan 1, task 2, try 3", "planner plan 2", "coder plan 2, task 2, try 1", "coder plan " +
			"2, task 3, try 1", "reporter the answer"}, p.model.subjects())
	contains(t, "the second debugger's request", p.model.text(4), "raise(first)", "ValueError: second")
	contains(t, "the planner's request", p.model.text(5), `"status": "done"`, `"status": "to do"`,
		"Task 2 has failed", "raise(third)", "ValueError: third")
	contains(t, "the coder's request", p.model.text(6), "Task 1: Load", "a = 1")
}

// TestInterpreterFork: a finished task after the fork runs again.
func TestInterpreterFork(t *testing.T) {
	o := bare
	o.Interpreter.Tries = 1
	p := run(t, "data-interpreter", o, script{
		"planner": {tasks("1: Load", "2: Clean", "3: Fail"), tasks("1: Load", "2b: Look", "2: Clean")},
		"coder": {block("a = 1"), block("b = 2"), block("raise(x)"), block("c = 3"),
			block("b = 4\nprint(b)")},
		"reporter": {"Answer: 4"},
	})
	same(t, "the cells", []string{"a = 1", "b = 2", "raise(x)", "c = 3", "b = 4\nprint(b)"}, p.cells())
}

func TestInterpreterSteps(t *testing.T) {
	o := bare
	o.Steps, o.Interpreter.Tries = 2, 1
	p := run(t, "data-interpreter", o, script{
		"planner":  {tasks("1: Load", "2: Fail"), tasks("1: Load", "2: Again")},
		"coder":    {block("a = 1\nprint(a)"), block("raise(x)")},
		"reporter": {"Answer: 1"},
	})
	if r := p.result; r.Answer != "1" || r.Finished || r.Rounds != 2 {
		t.Errorf("the result is %+v", r)
	}

	o.Interpreter.NoReplan, o.Steps = true, 0
	p = run(t, "data-interpreter", o, script{"planner": {tasks("1: Fail")},
		"coder": {block("raise(x)")}})
	if r := p.result; r.Answer != "" || r.Finished || r.Rounds != 1 {
		t.Errorf("the result is %+v", r)
	}
}

func TestInterpreterUnreadable(t *testing.T) {
	unread := (*reply.Error)(nil)
	for name, plan := range map[string]string{
		"words": "First I load it.", "twice": tasks("1: a", "1: b"), "unknown": tasks("1: a < 2"),
		"cycle": tasks("1: a < 2", "2: b < 1"), "empty": "```json\n[]\n```",
	} {
		p := newPlay(t, script{"planner": {plan, plan}}).solve(t, t.Context(), "data-interpreter", bare)
		if !errors.As(p.err, &unread) || len(p.model.asked) != 2 {
			t.Errorf("%s: the error is %v", name, p.err)
		}
	}
	// A repaired plan, code that is never repaired, and a plan without that task.
	p := run(t, "data-interpreter", bare, script{
		"planner": {tasks("1: a < 2"), tasks("1: a", "2: b"), tasks("1: c")},
		"coder":   {"No.", "No!", block("print(\"7\")")}, "reporter": {"Seven.", "Seven!"},
	})
	if r := p.result; r.Answer != "" || r.Finished || r.Executions != 1 {
		t.Errorf("the result is %+v", r)
	}
}

func TestInterpreterStopped(t *testing.T) {
	p := run(t, "data-interpreter", bare, script{
		"planner": {tasks("1: a", "2: b")}, "coder": {block("x = 1"), block("hang()")},
		"debugger": {block("print(x)")}, "reporter": {"Answer: 1"},
	})
	contains(t, "the debugger's request", p.model.text(3), "longer than 60 s", "put back")
	if p.result.Failed != 1 || len(p.session.rolled) != 1 {
		t.Errorf("the result is %+v", p.result)
	}
}

// TestVerification is the example of figure 6: two results with the mean confidence
// 0.6 and 0.3.
func TestVerification(t *testing.T) {
	o := solver.Options{Interpreter: solver.Interpreter{NoTools: true, Trials: 5}}
	p := run(t, "data-interpreter", o, script{
		"planner": {tasks("1: The probability")},
		"coder": {block("p = 1/108\nprint(p)"), block("p = 56/219\nprint(p)"),
			block("q = 1\np = 56/219\nprint(p)"), block("p = 56/219\nr = 1\nprint(p)"),
			block("p = 1/108\ns = 1\nprint(p)")},
		"validator": {block("print(\"False\")"), block("print(\"False\")"), block("raise(x)"),
			block("print(\"False\")"), block("print(\"True\")")},
		"reporter": {"Answer: 1/108"},
	})
	contains(t, "the choice", p.cell(t, "turn-12").Source, "0.60 in 2 trials: 1/108",
		"0.30 in 3 trials: 56/219")
	contains(t, "the second coder's request", p.model.text(3), "1/108", "False")
	if r := p.result; r.Answer != "1/108" || r.Executions != 10 || p.session.vars["p"] != "1/108" {
		t.Errorf("the result is %+v", r)
	}
}

// TestVerificationRunsTheWinner: the winner runs again if other code ran after it.
func TestVerificationRunsTheWinner(t *testing.T) {
	o := solver.Options{Interpreter: solver.Interpreter{NoTools: true, Trials: 2}}
	p := run(t, "data-interpreter", o, script{
		"planner": {tasks("1: The probability")}, "coder": {block("p = 1\nprint(p)"),
			block("p = 2\nprint(p)")},
		"validator": {block("print(\"perhaps\")"), block("print(\"False\")")}, "reporter": {"Answer: 1"},
	})
	same(t, "the cells", []string{"p = 1\nprint(p)", `print("perhaps")`, "p = 2\nprint(p)",
		`print("False")`, "p = 1\nprint(p)"}, p.cells())
	contains(t, "the reporter's request", p.model.text(5), "p = 1")
}

// TestVerificationLosesTheWinner: a winner that fails when run again is not a result, and the
// planner is told why.
func TestVerificationLosesTheWinner(t *testing.T) {
	o := solver.Options{Interpreter: solver.Interpreter{NoTools: true, Trials: 2}}
	p := run(t, "data-interpreter", o, script{
		"planner": {tasks("1: The probability"), tasks("1: The probability by hand")},
		"coder": {block("once(renamed)\np = 1\nprint(p)"), block("p = 2\nprint(p)"),
			block("p = 3\nprint(p)")},
		"validator": {block("print(\"perhaps\")"), block("print(\"False\")"), block("print(\"True\")")},
		"reporter":  {"Answer: 3"},
	})
	contains(t, "the second plan's request", p.model.text(5), "Task 1 has failed", "once(renamed)",
		"ValueError: renamed")
	if r := p.result; r.Answer != "3" || !r.Finished || r.Rounds != 2 {
		t.Errorf("the result is %+v", r)
	}
}

func toolOf(name, code string) string {
	return fmt.Sprintf("```json\n{\"name\": %q, \"description\": \"Gives the mean fee.\", "+
		"\"parameters\": {}, \"returns\": \"a number\"}\n```\n\n%s", name, block(code))
}

// TestTools: a tool is made from a task's code, tested, repaired, and recommended for the next
// task.
func TestTools(t *testing.T) {
	o := solver.Options{Interpreter: solver.Interpreter{NoVerify: true}}
	good := "def mean_fee(fees): pass"
	p := run(t, "data-interpreter", o, script{
		"planner": {tasks("1: Load the fees", "2: The mean fee < 1")},
		"coder":   {block("fees = 7\nprint(fees)"), block("print(fees)")},
		"toolmaker": {toolOf("mean_fee", "def mean_fee(fees): pass\nraise(broken)"),
			toolOf("mean_fee", good)}, // and none of the last task
		"tester":      {block("test_x = 1\nprint(test_x)")},
		"recommender": {"```json\n[\"mean_fee\", \"no_such\"]\n```"},
		"reporter":    {"Answer: 7"},
	})
	same(t, "the requests", []string{"planner plan 1", "coder plan 1, task 1, try 1",
		"toolmaker plan 1, task 1, try 1", "tester plan 1, task 1, try 1",
		"toolmaker plan 1, task 1, try 2", "recommender plan 1, task 2", "coder plan 1, task 2, try 1",
		"reporter the answer"},
		p.model.subjects())
	contains(t, "the repair", p.model.text(4), "raise(broken)", "test_x = 1", "ValueError: broken")
	contains(t, "the recommendation", p.model.text(5), "`mean_fee`: Gives the mean fee.")
	contains(t, "the coder's request", p.model.text(6), `"name": "mean_fee"`)
	same(t, "the cells", []string{"fees = 7\nprint(fees)", "def mean_fee(fees): pass\nraise(broken)",
		good, "test_x = 1\nprint(test_x)", "print(fees)"}, p.cells())
	if r := p.result; r.DebugTries != 1 || !r.Finished {
		t.Errorf("the result is %+v", r)
	}
}

// TestToolThatFails is left out.
func TestToolThatFails(t *testing.T) {
	o := solver.Options{Interpreter: solver.Interpreter{NoVerify: true, Tries: 2}}
	bad := toolOf("mean_fee", "def mean_fee(fees): pass")
	p := run(t, "data-interpreter", o, script{
		"planner":   {tasks("1: Load the fees", "2: The mean fee < 1")},
		"coder":     {block("fees = 7\nprint(fees)"), block("print(fees)")},
		"toolmaker": {bad, bad, "nothing", "neither"}, "tester": {block("raise(wrong)")},
		"reporter": {"Answer: 7"},
	})
	if slices.ContainsFunc(p.model.subjects(), func(s string) bool {
		return strings.HasPrefix(s,
			"recommender")
	}) || !p.result.Finished {
		t.Errorf("the requests are %q", p.model.subjects())
	}
}

// TestGivenTools are recalled by their words and defined once.
func TestGivenTools(t *testing.T) {
	var tools []solver.Tool
	for _, name := range []string{"sum_fees", "cut_hair", "mean_fee", "max_fee"} {
		tools = append(tools, solver.Tool{Name: name, Description: "Does " +
			strings.ReplaceAll(name, "_", " ") + ".", Schema: json.RawMessage(`{"name": "` + name + `"}`),
			Code: "def " + name + "(): pass"})
	}
	o := solver.Options{Interpreter: solver.Interpreter{NoVerify: true, Recall: 2, Tools: tools}}
	p := run(t, "data-interpreter", o, script{
		"planner":     {tasks("1: The mean fee", "2: The mean fee again < 1")},
		"coder":       {block("fees = 7"), block("print(fees)")},
		"recommender": {"[\"mean_fee\"]", "I like them all", "all of them"},
		"toolmaker":   {"None", "None"}, "reporter": {"Answer: 7"},
	})
	contains(t, "the recommendation", p.model.text(1), "mean_fee", "max_fee")
	if strings.Contains(p.model.text(1), "cut_hair") || strings.Contains(p.model.text(1), "sum_fees") {
		t.Error("a tool that has nothing to do with it was recalled")
	}
	contains(t, "the second coder's request", p.model.text(6), "mean_fee",
		"max_fee") // unread: the nearest
	same(t, "the cells", []string{"def mean_fee(): pass", "fees = 7", "def max_fee(): pass",
		"print(fees)"}, p.cells())
}

// TestExperience: experience from one question, failures included, is shown for the next.
func TestExperience(t *testing.T) {
	pool := filepath.Join(t.TempDir(), "pool.json")
	o := solver.Options{Interpreter: solver.Interpreter{NoVerify: true, Tries: 1, Pool: pool}}
	s, err := solver.New("data-interpreter", o)
	if err != nil {
		t.Fatal(err)
	}
	replies := script{
		"planner":   {tasks("1: Load the fees"), tasks("1: Load the fees carefully")},
		"coder":     {block("raise(encoding)"), block("fees = 7\nprint(fees)")},
		"reflector": {"Say the encoding.", "With the encoding it works."},
		"toolmaker": {toolOf("mean_fee", "def mean_fee(fees): pass")},
		"tester":    {block("test_x = 1")}, "reporter": {"Answer: 7"},
	}
	solve := func(p *play) string {
		t.Helper()
		if p.result, p.err = s.Solve(t.Context(), p.cfg, p.task); p.err != nil {
			t.Fatal(p.err)
		}
		data, err := os.ReadFile(pool)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	data := solve(newPlay(t, copied(replies)))
	contains(t, "the pool", data, "Say the encoding.", "raise(encoding)", `"done": false`,
		`"done": true`, "def mean_fee")

	// The same question again starts without it, and replaces the first run.
	p := newPlay(t, copied(replies))
	again := solve(p)
	if strings.Contains(p.model.text(1), "# Experience") ||
		strings.Contains(strings.Join(p.model.subjects(), "\n"), "recommender") {
		t.Errorf("a question is helped by its own experiences:\n%s", p.model.text(1))
	}
	if n := strings.Count(again, `"lesson"`); n != 2 ||
		strings.Count(again, `"name"`) != strings.Count(data, `"name"`) {
		t.Errorf("the pool has %d experiences:\n%s", n, again)
	}

	p = newPlay(t, script{
		"planner": {tasks("1: Load other fees")}, "recommender": {"[\"mean_fee\"]"},
		"coder":     {block("print(\"8\")")},
		"reflector": {"Easy."}, "toolmaker": {"None"}, "reporter": {"Answer: 8"},
	})
	p.task.Question = "What is the other fee?"
	solve(p)
	contains(t, "the coder's request", p.model.text(2), "Say the encoding.",
		"With the encoding it works.", "ValueError: encoding", `"name": "mean_fee"`)

	if err := os.WriteFile(pool, []byte("no JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p = newPlay(t, script{}).solve(t, t.Context(), "data-interpreter", o); p.err == nil ||
		!strings.Contains(p.err.Error(), "experience pool") {
		t.Errorf("the error is %v", p.err)
	}
}

// TestHumanEditing: a failed task waits for a person, runs as edited, and is followed by a new
// plan.
func TestHumanEditing(t *testing.T) {
	o := bare
	o.Interpreter.Tries = 1
	p := newPlay(t, script{
		"planner": {tasks("1: Load", "2: Print < 1"), tasks("1: Load by hand", "2: Print it < 1"),
			tasks("1: Load by hand", "2: Print all < 1")},
		"coder": {block("raise(x)"), block("raise(y)"), block("print(a)")}, "reporter": {"Answer: 3"},
	})
	var asked []string
	p.cfg.Review = func(_ context.Context, q agent.Proposal) (agent.Decision, error) {
		asked = append(asked, fmt.Sprintf("%s %d: %s", q.Text, q.Try, q.Code))
		switch len(asked) {
		case 1:
			return agent.Decision{Choice: agent.Accept, Code: "raise(z)"}, nil
		case 2:
			return agent.Decision{Choice: agent.Accept, Text: "Load by hand", Code: "a = 3"}, nil
		}
		return agent.Decision{Choice: agent.Reject, Reason: "print all of it"}, nil
	}
	if p.solve(t, t.Context(), "data-interpreter", o); p.err != nil {
		t.Fatal(p.err)
	}
	same(t, "the person was asked about", []string{"Load 1: raise(x)", "Load 2: raise(z)",
		"Print it 1: raise(y)"}, asked)
	same(t, "the cells", []string{"raise(x)", "raise(z)", "a = 3", "raise(y)", "print(a)"}, p.cells())
	contains(t, "the second plan", p.model.text(2), "Load by hand")
	contains(t, "the third plan", p.model.text(4), "Task 2 has failed", "print all of it")
	if p.result.Answer != "3" || !p.result.Finished {
		t.Errorf("the result is %+v", p.result)
	}

	p = newPlay(t, script{"planner": {tasks("1: Load")}, "coder": {block("raise(x)")}})
	p.cfg.Review = func(context.Context, agent.Proposal) (agent.Decision, error) {
		return agent.Decision{Choice: agent.Stop}, nil
	}
	if p.solve(t, t.Context(), "data-interpreter", o); !errors.Is(p.err, agent.ErrStopped) {
		t.Errorf("the error is %v", p.err)
	}
}

package solver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/solver"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// happy has a short script for each agent, with one cell for those that run cells.
var happy = map[string]script{
	"dsstar": {
		"analyzer": {"```python\nprint(\"a table\")\n```"},
		"solver":   {"Step: Read the fee.\n\n```python\nx = 7\nprint(x)\n```"},
		"judge":    {"Verdict: sufficient\nReason: it is there\n\n```python\nprint(x)\n```"},
		"second":   {"```python\nx = 7\nprint(x)\n```"},
	},
	"model-only": {"model-only": {"The file says so.\n\nAnswer: 7"}},
	"react":      {"react": {py("x = 7\nprint(x)"), py("answer(7)")}},
	"da-agent": {"da-agent": {`Thought: look.` + "\n" + `Action: Bash(code="cat data/a.txt")`,
		`Action: Terminate(output="7")`}},
	"autogen": {"assistant": {"Let us see.\n\n```python\nx = 7\nprint(x)\n```",
		"It is seven.\nAnswer: 7\nTERMINATE"}},
	"data-interpreter": {
		"planner": {"```json\n[{\"task_id\": \"1\", \"dependent_task_ids\": [], \"instruction\": " +
			"\"Read the fee.\"}, " +
			"{\"task_id\": \"2\", \"dependent_task_ids\": [\"1\"], \"instruction\": \"Print the " +
			"fee.\"}]\n```"},
		"coder":     {"```python\nx = 7\nprint(x)\n```", "```python\nprint(x)\n```"},
		"validator": {"```python\nprint(\"True\")\n```", "```python\nprint(\"True\")\n```"},
		"toolmaker": {"None"},
		"reporter":  {"Answer: 7"},
	},
}

func copied(s script) script {
	all := script{}
	for role, replies := range s {
		all[role] = slices.Clone(replies)
	}
	return all
}

// agents runs a test for each agent but dsstar, whose own tests are elsewhere.
func agents(t *testing.T, test func(t *testing.T, name string)) {
	for _, n := range solver.All() {
		if n.Name != "dsstar" {
			t.Run(n.Name, func(t *testing.T) { t.Parallel(); test(t, n.Name) })
		}
	}
}

func TestHappy(t *testing.T) {
	for _, n := range solver.All() {
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, copied(happy[n.Name]))
			p.cfg.Price = func(string) (llm.Price, bool) { return llm.Price{Input: 1, Output: 10}, true }
			if n.Name == "dsstar" {
				p.cfg.Method.NoAnalyzer = true
				p.cfg.Open = func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session,
					error) {
					if purpose != agent.Work {
						return &session{vars: map[string]string{}}, nil
					}
					return p.session, nil
				}
			}
			p.solve(t, t.Context(), n.Name, solver.Options{})
			if p.err != nil {
				t.Fatal(p.err)
			}
			r := p.result
			if r.Answer != "7" || !r.Finished || r.Rounds == 0 || r.Failed != 0 || r.DebugTries != 0 {
				t.Errorf("the result is %+v", r)
			}
			if r.Usage.Calls != len(p.model.asked) || r.Cost == nil || *r.Cost == 0 ||
				len(r.ByRole) == 0 {
				t.Errorf("the usage is %+v, cost %v", r.ByRole, r.Cost)
			}
			if n.Name != "model-only" && (r.Executions == 0 || len(r.Actions) == 0 ||
				r.Actions[0].Observation == "") {
				t.Errorf("the actions are %+v", r.Actions)
			}
			meta := p.nb.Metadata["dsstar"].(map[string]any)
			if n.Name == "dsstar" {
				return
			}
			if meta["agent"] != n.Name || meta["answer"] != "7" || meta["finished"] != true ||
				meta["verified"] != false {
				t.Errorf("the notebook's metadata are %v", meta)
			}
			contains(t, "the notebook", p.cell(t, "question").Source, "What is the fee?", n.Name,
				"A number.")
			if _, err := record.Read(p.nb); err == nil || !strings.Contains(err.Error(), n.Name) {
				t.Errorf("read as a run of dsstar, the error is %v", err)
			}
			if !p.session.closed && n.Name != "model-only" {
				t.Error("the session was not closed")
			}
		})
	}
}

func TestModelError(t *testing.T) {
	agents(t, func(t *testing.T, name string) {
		for role := range happy[name] {
			replies := copied(happy[name])
			replies[role][len(replies[role])-1] = "fail:"
			p := newPlay(t, replies).solve(t, t.Context(), name, solver.Options{})
			if !errors.Is(p.err, errModel) || p.result.Finished {
				t.Errorf("%s: the error is %v, the result %+v", role, p.err, p.result)
			}
			contains(t, "the notebook", p.cell(t, "question").Source, "Stopped", "the model is gone")
		}
	})
}

// TestReplay: an agent repeats its run from the trace, and all its requests have different
// subjects.
func TestReplay(t *testing.T) {
	for name, replies := range map[string]script{
		"model-only": {"model-only": {"Seven.", "Answer: 7"}},
		"react":      {"react": {py("x = 7\nprint(x)"), "No code.", py("raise(x)"), py("answer(7)")}},
		"da-agent": {"da-agent": {action(`Bash(code="ls")`), "What?", action(`Bash(code="ls -l")`),
			action(`Terminate(output="7")`)}},
		"autogen": {"assistant": {"Hm.", "```python\nprint(\"7\")\n```", "Answer: 7\nTERMINATE"}},
		"data-interpreter": {
			"planner":   {"no", tasks("1: Load", "2: Fail < 1"), tasks("1: Load", "2: Print < 1")},
			"coder":     {block("x = 7"), block("raise(x)"), block("print(x)")},
			"debugger":  {block("raise(y)"), block("raise(z)")},
			"validator": {block("print(\"True\")"), block("print(\"True\")")},
			"toolmaker": {toolOf("f", "def f(): pass"), "None"}, "tester": {block("test_x = 1")},
			"recommender": {"[]", "[\"f\"]"}, "reporter": {"Answer: 7"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, replies)
			path := filepath.Join(t.TempDir(), "trace.jsonl")
			trace, err := llm.OpenTrace(path)
			if err != nil {
				t.Fatal(err)
			}
			defer trace.Close()
			p.cfg.Model = llm.Traced(p.model, trace)
			if p.solve(t, t.Context(), name, solver.Options{}); p.err != nil || p.result.Answer != "7" {
				t.Fatalf("%v, %+v", p.err, p.result)
			}
			seen := map[string]bool{}
			for _, s := range p.model.subjects() {
				if seen[s] {
					t.Errorf("%s was asked twice", s)
				}
				seen[s] = true
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			exchanges, err := llm.ReadTrace(file)
			if err != nil {
				t.Fatal(err)
			}
			again := newPlay(t, nil)
			again.task = p.task
			again.cfg.Model = llm.Replay(exchanges)
			if again.solve(t, t.Context(), name, solver.Options{}); again.err != nil {
				t.Fatal(again.err)
			}
			if !notebook.Same(p.nb, again.nb) {
				t.Error("the notebook is another one")
			}
		})
	}
}

// TestStopped: a run ends with the error of its context, session or budget, and the notebook
// reports it.
func TestStopped(t *testing.T) {
	agents(t, func(t *testing.T, name string) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPlay(t, copied(happy[name]))
		p.model.before = func(llm.Request) { cancel() }
		if p.solve(t, ctx, name, solver.Options{}); !errors.Is(p.err, context.Canceled) {
			t.Errorf("the error is %v", p.err)
		}
		contains(t, "the notebook", p.cell(t, "question").Source, "interrupted")
		p = newPlay(t, copied(happy[name]))
		p.cfg.Limits.Time = time.Millisecond
		p.model.before = func(llm.Request) { time.Sleep(50 * time.Millisecond) }
		p.solve(t, t.Context(), name, solver.Options{})
		spent := (*ask.BudgetError)(nil)
		if !errors.As(p.err, &spent) || spent.Flag != "max-time" {
			t.Errorf("the error is %v", p.err)
		}
		if name == "model-only" {
			return
		}
		p = newPlay(t, copied(happy[name]))
		p.cfg.Limits.Calls = 1
		p.solve(t, t.Context(), name, solver.Options{})
		if !errors.As(p.err, &spent) || spent.Flag != "max-calls" || p.result.Finished ||
			len(p.model.asked) != 1 {
			t.Errorf("the error is %v after %d calls", p.err, len(p.model.asked))
		}
		lost := errors.New("no kernel")
		p = newPlay(t, copied(happy[name]))
		p.cfg.Open = func(context.Context, agent.Purpose, string) (agent.Session, error) {
			return nil, lost
		}
		if p.solve(t, t.Context(), name, solver.Options{}); !errors.Is(p.err, lost) {
			t.Errorf("the error is %v", p.err)
		}
	})
}

// TestCancelledInACell: the notebook has the work so far.
func TestCancelledInACell(t *testing.T) {
	agents(t, func(t *testing.T, name string) {
		replies := map[string]script{
			"react":   {"react": {py("x = 1"), py("wait()")}},
			"autogen": {"assistant": {block("x = 1"), block("wait()")}},
			"da-agent": {"da-agent": {action(`Bash(code="ls")`),
				action("Python(file_path=\"a.py\"):\n```python\nx\nwait()\n```")}},
			"data-interpreter": {"planner": {tasks("1: a", "2: b")},
				"coder": {block("x = 1"), block("wait()")}, "validator": {block("y = 1")},
				"toolmaker": {"None"}},
		}[name]
		if replies == nil {
			t.Skip("this agent runs no cells")
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := newPlay(t, replies)
		p.session.waiting = func(ctx context.Context) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		if p.solve(t, ctx, name, solver.Options{}); !errors.Is(p.err, context.Canceled) ||
			p.result.Finished || p.result.Executions == 0 {
			t.Errorf("%v, %+v", p.err, p.result)
		}
		if len(p.cells()) == 0 || !p.session.closed {
			t.Error("the first cell is not in the notebook, or the session is open")
		}
	})
}

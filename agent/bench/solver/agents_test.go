package solver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/agent/llm"
	"dsstar/agent/page"
)

func py(code string) string { return "Thought: go on.\n\n```python\n" + code + "\n```" }

func block(code string) string { return "```python\n" + code + "\n```" }

// tasks is a plan of tasks "id: instruction < dependency dependency".
func tasks(lines ...string) string {
	var all []map[string]any
	for _, line := range lines {
		line, depends, _ := strings.Cut(line, " < ")
		id, instruction, _ := strings.Cut(line, ": ")
		all = append(all, map[string]any{"task_id": id, "dependent_task_ids": strings.Fields(depends),
			"instruction": instruction})
	}
	data, _ := json.Marshal(all)
	return "```json\n" + string(data) + "\n```"
}

// A row is a task that an agent carries out by a script, in testdata/agents.json.
type row struct {
	Name, Agent string
	Options     solver.Options
	Replies     script
	Want        string           // of the record: see summary
	Cells       []string         // of the notebook, after the set-up
	Asked       map[int][]string // what requests contain, by their number from 0
	Lacks       map[int][]string // what they do not
	Shown       map[string][]string
}

func rows(t *testing.T) (all []row) {
	t.Helper()
	data, err := os.ReadFile("testdata/agents.json")
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func summary(r runner.Record) string {
	state := "finished"
	if !r.Finished {
		state = "not finished"
	}
	return fmt.Sprintf("%q %s: rounds %d, repairs %d", r.Answer, state, r.Rounds, r.DebugTries)
}

// TestAgents: each agent does what its script says. All its requests have different subjects, so
// that a trace replays it.
func TestAgents(t *testing.T) {
	for _, r := range rows(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, r.Replies)
			p.cfg.Price = func(string) (llm.Price, bool) { return llm.Price{Input: 1, Output: 10}, true }
			if p.solve(t, t.Context(), r.Agent, r.Options); p.err != nil {
				t.Fatal(p.err)
			}
			same(t, "the record", r.Want, summary(p.record))
			same(t, "the cells", r.Cells, p.cells())
			for n, parts := range r.Asked {
				contains(t, fmt.Sprint("request ", n), p.model.text(n), parts...)
			}
			for n, parts := range r.Lacks {
				for _, part := range parts {
					if strings.Contains(p.model.text(n), part) {
						t.Errorf("request %d has %q", n, part)
					}
				}
			}
			for id, parts := range r.Shown {
				contains(t, id, p.cell(t, id).Source, parts...)
			}
			p.complete(t, r.Agent)
		})
	}
}

// complete checks what holds for every agent that ended by itself.
func (p *play) complete(t *testing.T, name string) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range p.model.asked {
		if _, again := strings.CutSuffix(r.Subject, ", asked again"); seen[r.Role+r.Subject] && !again {
			t.Errorf("%s %s was asked twice", r.Role, r.Subject)
		}
		seen[r.Role+r.Subject] = true
	}
	if r := p.record; r.Usage.Calls != len(p.model.asked) || r.Cost == nil || *r.Cost == 0 || len(r.ByRole) == 0 {
		t.Errorf("the usage is %+v, cost %v", r.ByRole, r.Cost)
	}
	contains(t, "the end of the notebook", p.cell(t, "proof").Source, name)
	if _, err := page.Read(p.nb); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("read as a run of dsstar, the error is %v", err)
	}
	if !p.session.closed && name != "model-only" {
		t.Error("the session was not closed")
	}
}

// TestStops: a run whose model is gone ends with its error, and the notebook has the work so far.
func TestStops(t *testing.T) {
	for name, replies := range map[string]script{"react": {"react": {py("x = 1"), "fail:"}},
		"data-interpreter": {"planner": {tasks("1: a", "2: b")}, "coder": {block("x = 1"), "fail:"}}} {
		p := newPlay(t, replies).solve(t, t.Context(), name, solver.Options{})
		if !errors.Is(p.err, errModel) || p.record.Finished || !p.session.closed {
			t.Errorf("%s: the error is %v, the record %+v", name, p.err, p.record)
		}
		contains(t, "the notebook", p.cell(t, "question").Source, "Stopped", "the model is gone")
		same(t, "the first cell", "x = 1", p.cells()[0])
	}
}

// TestUnreadPlans: a plan that cannot be read twice ends the run.
func TestUnreadPlans(t *testing.T) {
	unread := (*ask.Error)(nil)
	for name, plan := range map[string]string{
		"words": "First I load it.", "twice": tasks("1: a", "1: b"), "unknown": tasks("1: a < 2"),
		"cycle": tasks("1: a < 2", "2: b < 1"), "empty": "```json\n[]\n```",
	} {
		p := newPlay(t, script{"planner": {plan, plan}}).solve(t, t.Context(), "data-interpreter", solver.Options{})
		if !errors.As(p.err, &unread) || len(p.model.asked) != 2 {
			t.Errorf("%s: the error is %v", name, p.err)
		}
	}
}

// TestKept: what a cell that raised has done stays, until a cell is stopped. Then the session goes back
// to those that ran well.
func TestKept(t *testing.T) {
	p := run(t, "react", solver.Options{}, rows(t)[0].Replies)
	same(t, "what was run again", [][]string{append(slices.Clone(p.session.ran[:3]),
		"x = 7\nprint(x)")}, p.session.rolled)
	p = run(t, "react", solver.Options{}, script{"react": {py("x = 7\nraise(y)"), py("print(x)"), py("answer(7)")}})
	same(t, "the tags of a cell that raised", []string{"raises-exception"}, p.cell(t, "step-2").Tags())
	if len(p.cell(t, "step-3").Outputs) != 1 || p.cell(t, "step-3").ExecutionCount != 5 || p.session.rolled != nil {
		t.Errorf("the outputs or counts are not those of the cells: %+v, %q", p.cell(t, "step-3"), p.session.rolled)
	}
}

// TestForgets: while the request is too long, the oldest exchange is dropped, and observations are
// bounded. A single request that is too long is not made again.
func TestForgets(t *testing.T) {
	long := strings.Repeat("long ", 9000)
	p := run(t, "react", solver.Options{}, script{"react": {py(`print("first")`),
		py(`print("` + long + `")`), "long:", py("answer(7)")}})
	last := p.model.text(3)
	contains(t, "the request", last, "What is the fee?", "long long")
	if n := strings.Count(last, "long "); n > 9000+4200 || strings.Contains(last, `print("first")`) {
		t.Errorf("nothing was forgotten, or an observation says it %d times", n-9000)
	}
	alone := newPlay(t, script{"model-only": {"long:", "Answer: 7"}})
	if alone.solve(t, t.Context(), "model-only", solver.Options{}); alone.err == nil {
		t.Error("it was made again")
	}
}

// TestManyFiles: files beyond the first ones are only named.
func TestManyFiles(t *testing.T) {
	p := newPlay(t, script{"model-only": {"Answer: 7"}})
	p.cfg.TopK = 1
	p.solve(t, t.Context(), "model-only", solver.Options{})
	contains(t, "the request", p.model.text(0), "\n\"data/a.txt\" (13 bytes)", "the fee is 7",
		"```\n\"data/b.txt\"")
}

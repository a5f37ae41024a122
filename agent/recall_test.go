package agent_test

import (
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/page"
	"dsstar/agent/record"
)

// recalled is a memory with a fact and two functions, of which cells may use one.
func recalled(code string) func(*stage) {
	return func(s *stage) {
		s.config.Recalled = &record.Recalled{
			Facts: []lesson.Fact{{Text: "An empty list means all.", Source: "manual.md"}},
			Tools: []lesson.Tool{{Name: "tool", Code: code}, {Name: "unused", Code: "unused = 7"}},
		}
	}
}

// TestRecalled: who derives the answer sees the memory; the judge, the second derivation and the arbiter
// do not, and the notebook has what its cells use.
func TestRecalled(t *testing.T) {
	p := play(t, another.with(script{"cell": "x = tool\nprint(x)", "second": "z = 2\nz",
		"arbiter": "Ruling: undecided"}), recalled("tool = 1")).noError(t)
	const fact, source = "An empty list means all. — source: manual.md", "tool = 1"
	for key, sees := range map[string]struct{ fact, source bool }{
		"solver round 1": {true, false}, "judge round 1": {false, true}, "second the answer": {false, false},
		"arbiter two answers": {false, true},
	} {
		text := p.model.prompt(t, key)
		if strings.Contains(text, fact) != sees.fact || strings.Contains(text, source) != sees.source {
			t.Errorf("%s: it should see the fact: %v, the source: %v\n%s", key, sees.fact, sees.source, text)
		}
	}
	script := p.Script()
	if !strings.Contains(script, source) || strings.Contains(script, "unused") {
		t.Errorf("the script\n%s", script)
	}
	if p.Verified() {
		t.Error("verified, though the derivations differ")
	}
}

// TestRecallFor: the nearest facts and functions, with those that they call, and nothing far.
func TestRecallFor(t *testing.T) {
	m := &memory.Memory{}
	for _, name := range strings.Fields("fee tax rate cost price sum mean count total share") {
		m.Facts = append(m.Facts, lesson.Fact{Text: name + strings.Repeat(" word", 150)})
		m.Tools = append(m.Tools, lesson.Tool{Name: name + "_of", Test: "assert",
			Code: "def " + name + "_of(a):\n    \"\"\"" + name + "\"\"\"\n    return helper(a)"})
	}
	m.Tools = append(m.Tools, lesson.Tool{Name: "helper", Test: "assert", Code: "def helper(a):\n    return 1"},
		lesson.Tool{Name: "untested", Code: "def untested(a):\n    return 'share'"})
	r := agent.RecallFor(m, "What is the share of the total?")
	has := func(name string) bool {
		for _, tool := range r.Tools {
			if tool.Name == name {
				return true
			}
		}
		return false
	}
	if len(r.Tools) != 3 || !has("share_of") || !has("total_of") || !has("helper") {
		t.Errorf("functions %+v", r.Tools)
	}
	if n := len(r.Facts); n != 3 || !strings.HasPrefix(r.Facts[n-1].Text, "share") {
		t.Errorf("%d facts: %.20v", n, r.Facts)
	}
	r = agent.RecallFor(m, "Fee, tax, rate, cost, price, sum, mean, count, total, share?")
	if len(r.Tools) != 9 { // as many as there is room for
		t.Errorf("functions %+v", r.Tools)
	}
	if agent.RecallFor(nil, "") != nil || agent.RecallFor(&memory.Memory{}, "") != nil {
		t.Error("an empty memory has something")
	}
}

// TestExample: only the first request shows the nearest verified question with its cells, and the
// session has the functions that these use.
func TestExample(t *testing.T) {
	const asked, next, cell = "How many of size 31 are there?", "How many of size 42 are there?", "x = tool"
	about := func(question string) func(*stage) { return func(s *stage) { s.task.Question = question } }
	first := play(t, simple.with(script{"cell": cell + "\nprint(x)"}), about(asked), recalled("tool = 1")).noError(t)
	unproved, of := *first.Trajectory, *first.Question
	of.Proof, unproved.Questions = nil, []*record.Question{&of}
	unproved.Question = &of
	tools := []lesson.Tool{{Name: "tool", Code: "tool = 1", Test: "assert tool == 1\n"}}
	remember := func(tr *record.Trajectory) *memory.Memory {
		path := filepath.Join(t.TempDir(), "notebook.ipynb")
		if err := page.Draw(tr).Save(path); err != nil {
			t.Fatal(err)
		}
		return &memory.Memory{Lesson: lesson.Lesson{Tools: tools}, Questions: []memory.Question{{Question: "Why?", Answer: "none"},
			{Question: asked, Answer: tr.Answer(), Notebook: path}}}
	}
	m := remember(first.Trajectory)
	lost := &memory.Memory{Lesson: lesson.Lesson{Tools: tools}, Questions: []memory.Question{{Question: asked, Notebook: "gone.ipynb"}}}
	for name, r := range map[string]*record.Recalled{"far": agent.RecallFor(m, "Who wrote the manual?"),
		"unproved": agent.RecallFor(remember(&unproved), next), "lost": agent.RecallFor(lost, next)} {
		if r.Example != nil || len(r.Tools) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	p := play(t, simple.with(script{"verdict round 1": no}), about(next), func(s *stage) {
		s.config.Recalled = agent.RecallFor(m, next)
	}).noError(t)
	for _, key := range []string{"solver round 1", "solver round 2", "judge round 1", "judge round 2", "second the answer"} {
		text := p.model.prompt(t, key)
		for _, part := range []string{asked, cell} {
			if strings.Contains(text, part) != (key == "solver round 1") {
				t.Errorf("%s: whether it has %q is wrong:\n%s", key, part, text)
			}
		}
	}
	if !strings.Contains(p.model.prompt(t, "solver round 1"), "tool") || !p.Verified() {
		t.Error(p.Standing())
	}
}

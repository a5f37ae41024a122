package agent_test

import (
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/memory"
	"dsstar/agent/record"
)

// recalled is a memory with a fact and two functions, of which cells may use one.
func recalled(code string) func(*stage) {
	return func(s *stage) {
		s.config.Recalled = &record.Recalled{
			Facts: []memory.Fact{{Text: "An empty list means all.", Source: "manual.md"}},
			Tools: []memory.Tool{{Name: "tool", Code: code}, {Name: "unused", Code: "unused = 7"}},
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

// TestRecalledWrong: a function that gives a wrong value does not lead to a verified answer if the
// arbiter finds the mistake.
func TestRecalledWrong(t *testing.T) {
	p := play(t, another.with(script{"cell": "x = tool\nprint(x)", "second": "z = 2\nz",
		"arbiter two answers": "Ruling: first\nReason: tool is wrong\nWrong step: 1"}),
		recalled("tool = 1")).noError(t)
	if p.Answer() != "2" || !p.Verified() || len(p.UsedTools()) > 0 {
		t.Errorf("answer %q, %s, uses %v", p.Answer(), p.Standing(), p.UsedTools())
	}
}

// TestRecallFor: the nearest facts and functions, with those that they call, and nothing far.
func TestRecallFor(t *testing.T) {
	m := &memory.Memory{Imports: []string{"import math"}}
	for _, name := range strings.Fields("fee tax rate cost price sum mean count total share") {
		m.Facts = append(m.Facts, memory.Fact{Text: name + strings.Repeat(" word", 150)})
		m.Tools = append(m.Tools, memory.Tool{Name: name + "_of", Test: "assert",
			Code: "def " + name + "_of(a):\n    \"\"\"" + name + "\"\"\"\n    return helper(a)"})
	}
	m.Tools = append(m.Tools, memory.Tool{Name: "helper", Test: "assert", Code: "def helper(a):\n    return 1"},
		memory.Tool{Name: "untested", Code: "def untested(a):\n    return 'share'"})
	r := agent.RecallFor(m, "What is the share of the total?", "fee_of")
	has := func(name string) bool {
		for _, tool := range r.Tools {
			if tool.Name == name {
				return true
			}
		}
		return false
	}
	if len(r.Tools) != 4 || !has("share_of") || !has("total_of") || !has("fee_of") || !has("helper") {
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

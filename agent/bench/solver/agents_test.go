package solver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"dsstar/agent/bench/solver"
	"dsstar/agent/llm"
	"dsstar/agent/page"
)

func block(code string) string { return "```python\n" + code + "\n```" }

// A row is a task that an agent carries out by a script, in testdata/agents.json.
type row struct {
	Name, Agent string
	Options     solver.Options
	Replies     script
	Want        string              // of the record
	Cells       []string            // of the notebook, after the set-up
	Asked       map[int][]string    // what requests contain, by their number from 0
	Shown       map[string][]string // what cells contain
}

// TestAgents: each agent does what its script says. All its requests have different subjects, so
// that a trace replays it.
func TestAgents(t *testing.T) {
	var rows []row
	data, err := os.ReadFile("testdata/agents.json")
	if err = errors.Join(err, json.Unmarshal(data, &rows)); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, r.Replies)
			p.cfg.Price = func(string) (llm.Price, bool) { return llm.Price{Input: 1, Output: 10}, true }
			if p.solve(t, t.Context(), r.Agent, r.Options); p.err != nil {
				t.Fatal(p.err)
			}
			same(t, "the record", r.Want, fmt.Sprintf("%q, finished %v, rounds %d, repairs %d", p.record.Answer,
				p.record.Finished, p.record.Rounds, p.record.DebugTries))
			same(t, "the cells", r.Cells, p.cells())
			for n, parts := range r.Asked {
				contains(t, fmt.Sprint("request ", n), p.model.text(n), parts...)
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

// TestBounded: an observation has at most so much text.
func TestBounded(t *testing.T) {
	p := newPlay(t, script{"react": {block(`print("` + strings.Repeat("long ", 9000) + `")`), block("answer(7)")}})
	p.solve(t, t.Context(), "react", solver.Options{})
	if n := strings.Count(p.model.text(1), "long "); n < 9000 || n > 9000+4200 {
		t.Errorf("an observation says it %d times", n-9000)
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

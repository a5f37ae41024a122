package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/notebooktest"
)

// A scripted task is one that an agent of benchmarks solves by a script, in testdata/agents.json.
type scripted struct {
	Name, Agent string
	Options     solver.Options
	Replies     map[string][]string // of the model by role, in order
	Want        string              // of the record
	Cells       []string            // of the notebook, after the set-up
	Asked       map[int][]string    // what requests contain, or lack after a !, by their number from 0
	Shown       map[string][]string // what cells contain
}

// A solved task is over.
type solved struct {
	model  *model
	record runner.Record
	nb     *notebook.Notebook
}

// solve has the task solved, over two files: one of a line and one of many.
func (s scripted) solve(t *testing.T, topK int) solved {
	t.Helper()
	data, dir := t.TempDir(), t.TempDir()
	long := strings.Repeat("one line of many\n", 1000)
	must(0, errors.Join(os.WriteFile(filepath.Join(data, "a.txt"), []byte("the fee is 7\n"), 0o600),
		os.WriteFile(filepath.Join(data, "b.txt"), []byte(long), 0o600)))
	w, m, said := &world{t: t}, &model{t: t, requests: map[string]llm.Request{}}, map[string]int{}
	m.says = func(r llm.Request) (string, bool) {
		replies, n := s.Replies[r.Role], said[r.Role]
		said[r.Role]++
		if n < len(replies) {
			return replies[n], true
		}
		return python(`print("True")`), r.Role == "validator" && replies == nil
	}
	n := solver.Find(s.Agent)
	got, err := n.New(s.Options)(t.Context(), agent.Config{
		Settings: ask.Settings{Model: m, ContextChars: 4000, DescriptionChars: 1000, ResultChars: 1000,
			Price: func(string) (llm.Price, bool) { return llm.Price{Input: 1, Output: 10}, true }},
		Options: describe.Options{DebugTries: 3, TopK: topK, Jobs: 1},
		Dir:     dir, MaxRounds: 20, Open: w.Open, RunScript: w.RunScript,
	}, record.Task{Question: "What is the fee?", Guidelines: "A number.", Data: data,
		Files: []record.File{{Name: "a.txt", Size: 13}, {Name: "b.txt", Size: int64(len(long))}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.requests) != len(m.asked) {
		t.Errorf("requests of the same subject, which no trace can replay: %q", m.asked)
	}
	for _, one := range w.sessions {
		equal(t, "how often a session is closed", one.closed, 1)
	}
	return solved{m, got, must(notebook.Open(record.Folder(dir).Notebook()))}
}

// TestAgents: each agent does what its script says, and leaves a notebook that is not taken for a run of
// ours.
func TestAgents(t *testing.T) {
	var rows []scripted
	must(0, json.Unmarshal(must(os.ReadFile("testdata/agents.json")), &rows))
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			s := r.solve(t, 100)
			equal(t, "the record", fmt.Sprintf("%q, finished %v, rounds %d, repairs %d", s.record.Answer,
				s.record.Finished, s.record.Rounds, s.record.DebugTries), r.Want)
			var cells []string
			for _, c := range s.nb.Cells {
				if strings.HasPrefix(c.ID, "step-") && !strings.Contains(c.Source, "def ") {
					cells = append(cells, c.Source)
				}
			}
			equal(t, "the cells", cells, r.Cells)
			for n, parts := range r.Asked {
				for _, part := range parts {
					part, without := strings.CutPrefix(part, "!")
					if text := textOf(s.model.requests[s.model.asked[n]]); strings.Contains(text, part) == without {
						t.Errorf("request %d: %q is in it: %v\n%s", n, part, without, text)
					}
				}
			}
			for id, parts := range r.Shown {
				contains(t, notebooktest.Cell(s.nb, id).Source, parts...)
			}
			if r := s.record; r.Usage.Calls != len(s.model.asked) || r.Cost == nil || *r.Cost == 0 || len(r.ByRole) == 0 {
				t.Errorf("the usage is %+v, cost %v", r.ByRole, r.Cost)
			}
			contains(t, notebooktest.Cell(s.nb, "proof").Source, r.Agent)
			if _, err := page.Read(s.nb); err == nil || !strings.Contains(err.Error(), r.Agent) {
				t.Errorf("read as a run of dsstar, the error is %v", err)
			}
		})
	}
}

// TestBounded: an observation has at most so much text, and files beyond the first ones are only named.
func TestBounded(t *testing.T) {
	long := scripted{Agent: "react", Replies: map[string][]string{
		"react": {python(`print("` + strings.Repeat("long ", 9000) + `")`), python("answer(7)")}}}.solve(t, 100)
	if n := strings.Count(textOf(long.model.requests[long.model.asked[1]]), "long "); n < 9000 || n > 9000+4200 {
		t.Errorf("an observation says it %d times", n-9000)
	}
	many := scripted{Agent: "model-only", Replies: map[string][]string{"model-only": {"Answer: 7"}}}.solve(t, 1)
	contains(t, textOf(many.model.requests[many.model.asked[0]]), "\n\"data/a.txt\" (13 bytes)", "the fee is 7",
		"```\n\"data/b.txt\"")
}

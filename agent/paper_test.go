package agent_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// TestPaperRequests: every request of the paper's method is byte for byte the one in
// testdata/paper, in a run with all that can happen and with each switch. The system message
// stands there once, and a request that is the same as in published.golden has its title only.
func TestPaperRequests(t *testing.T) {
	long := fmt.Sprintf(`raise KeyError("%s")`, strings.Repeat("many words ", 600))
	replies := script{
		"analyzer numbers.csv":        long,
		"debugger numbers.csv, try 2": `raise ValueError("half mended")`,
		"analyzer":                    `print("a description")`, "debugger": "x = 0\nprint(x)",
		"summarizer":      "KeyError: many words, in line 1",
		"planner round 1": "Load the shops.", "coder round 1": "x = 1\nprint(x)",
		"planner round 2": "Add up the `amounts`.\n```\nx\n```", "coder round 2": "x = 1\ny = 2\n" + long,
		"debugger round 2, try 2": "x = 1\ny = 3\nprint(y)\nprint(\"```\")", "router round 2": "Step 2",
		"planner round 3": "Add up the paid amounts.", "coder round 3": "raw:no code",
		"coder round 3, asked again": "die()", "debugger round 3, try 2": "hang()",
		"debugger round 3, try 3": "die()",
		"planner round 4":         "Add up the amounts by shop.", "coder round 4": "x = 4\nprint(x)",
		"verifier": "No", "verifier round 4": "Perhaps", "verifier round 4, asked again": "No.",
		"router": "Add Step", "router round 4": "Step 1",
		"planner": "Load the shops again.", "coder": "x = 5\nprint(x)", "verifier round 5": "Yes",
		"finalizer": "print(z)", "debugger the answer, try 2": "print(\"\")",
		"debugger the answer, try 3": "x = 5\nprint(x)",
	}
	content := tables("shops.csv", "a/days.csv")
	content["numbers.csv"], content["manual.md"] = "n\n1\n2\n", "# Manual\n\nTests do not count.\n"
	published := map[string][]llm.Message{}
	for _, c := range []struct {
		name   string
		change func(*stage)
	}{
		{"published", func(*stage) {}},
		{"no-analyzer", func(s *stage) { s.config.Method.NoAnalyzer = true }},
		{"no-router", func(s *stage) { s.config.Method.NoRouter = true }},
		{"plan-only", func(s *stage) { s.config.Method.PlanOnly = true }},
		{"no-guidelines", func(s *stage) { s.task.Guidelines = "" }},
		{"two-rounds", func(s *stage) { s.config.MaxRounds, s.config.Memory = 2, 1<<30 }},
		{"reviewed", decided(map[string]agent.Decision{
			"round 1, try 1":    rejected("not so"),
			"round 2, try 2":    accepted("x = 9\nprint(x)"),
			"the answer, try 1": rejected("two decimals"),
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, replies, withData(t, content), func(s *stage) {
				s.config.Method, s.config.Jobs = record.Method{Script: true}, 1
				s.task.Guidelines = "A number."
				c.change(s)
			}).noError(t)
			asked := p.model.asked
			slices.Sort(asked[:slices.Index(asked, "planner round 1")]) // files have no order
			var got strings.Builder
			for _, key := range asked {
				r := p.model.requests[key]
				fmt.Fprintf(&got, "======== %s\n", key)
				for i, m := range r.Messages {
					switch {
					case published[key] != nil && slices.Equal(published[key], r.Messages):
						continue // see published.golden
					case i > 0 || key == asked[0] || m != p.model.requests[asked[0]].Messages[0]:
						fmt.Fprintf(&got, "---- %s\n%s\n", m.Role, m.Text)
					}
				}
				if c.name == "published" {
					published[key] = r.Messages
				}
			}
			golden(t, filepath.Join("testdata", "paper", c.name+".golden"), got.String())
		})
	}
}

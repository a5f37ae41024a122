package agent_test

import (
	"fmt"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
)

// A Config that lacks something is refused by name, before anything is done.
func TestConfigIsChecked(t *testing.T) {
	lacks := map[string]func(*agent.Config){
		"Model":            func(c *agent.Config) { c.Model = nil },
		"Prompts":          func(c *agent.Config) { c.Prompts = nil },
		"Open":             func(c *agent.Config) { c.Open = nil },
		"RunScript":        func(c *agent.Config) { c.RunScript = nil },
		"Dir":              func(c *agent.Config) { c.Dir = "" },
		"MaxRounds":        func(c *agent.Config) { c.MaxRounds = 0 },
		"TopK":             func(c *agent.Config) { c.TopK = 0 },
		"Jobs":             func(c *agent.Config) { c.Jobs = 0 },
		"ResultChars":      func(c *agent.Config) { c.ResultChars = 0 },
		"DescriptionChars": func(c *agent.Config) { c.DescriptionChars = 0 },
		"ContextChars":     func(c *agent.Config) { c.ContextChars = 0 },
	}
	var whole agent.Config
	play(t, simple, func(s *stage) { whole = s.config }).noError(t)
	for field, remove := range lacks {
		config := whole
		remove(&config)
		want := "agent.Config: " + field + " is not set"
		ran, err := agent.Run(t.Context(), config, record.Task{})
		resumed, err2 := agent.Resume(t.Context(), config, &record.Trajectory{}, nil)
		if ran == nil || resumed == nil || fmt.Sprint(err) != want || fmt.Sprint(err2) != want {
			t.Errorf("%v, %v, want %s", err, err2, want)
		}
	}
}

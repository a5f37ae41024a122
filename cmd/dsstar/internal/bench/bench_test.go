package bench

import (
	"testing"
	"time"

	"dsstar/agent/bench/solver"
	"dsstar/configs"
)

func load(t *testing.T, from configs.Sources) *configs.Settings {
	t.Helper()
	s, err := configs.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAsPublished: an agent's published settings are applied, and the user's own override them.
func TestAsPublished(t *testing.T) {
	t.Parallel()
	agent, _ := solver.Find("da-agent")
	s := load(t, configs.Sources{})
	asPublished(agent, s)
	if s.Temperature == nil || *s.Temperature != 0 || s.CellTimeout != 310*time.Second {
		t.Errorf("%v, %v", s.Temperature, s.CellTimeout)
	}
	s = load(t, configs.Sources{Flags: map[string]configs.Flag{
		"cell_timeout": {Name: "--cell-timeout", Value: time.Minute},
		"temperature":  {Name: "--temperature", Value: "0.5"},
	}})
	if asPublished(agent, s); *s.Temperature != 0.5 || s.CellTimeout != time.Minute {
		t.Errorf("%v, %v", *s.Temperature, s.CellTimeout)
	}
}

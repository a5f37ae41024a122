package bench

import (
	"testing"
	"time"

	"dsstar/agent/bench/solver"
	"dsstar/configs"
	"dsstar/kernel/pyenv/pyenvtest"
)

// TestAsPublished: an agent's published settings are applied, and the user's own override them.
func TestAsPublished(t *testing.T) {
	agent, _ := solver.Find("da-agent")
	for _, c := range []struct {
		given       map[string]configs.Flag
		temperature float64
		timeout     time.Duration
	}{
		{nil, 0, 310 * time.Second},
		{map[string]configs.Flag{"cell_timeout": {Name: "--cell-timeout", Value: time.Minute},
			"temperature": {Name: "--temperature", Value: "0.5"}}, 0.5, time.Minute},
	} {
		s := pyenvtest.Must(configs.Load(configs.Sources{Flags: c.given}))
		if asPublished(agent, s); *s.Temperature != c.temperature || s.CellTimeout != c.timeout {
			t.Errorf("%v, %v", *s.Temperature, s.CellTimeout)
		}
	}
}

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
	agent := solver.Find("da-agent")
	published := pyenvtest.Must(configs.Load(configs.Sources{}))
	own := pyenvtest.Must(configs.Load(configs.Sources{Flags: map[string]configs.Flag{
		"cell_timeout": {Name: "--cell-timeout", Value: time.Minute},
		"temperature":  {Name: "--temperature", Value: "0.5"}}}))
	asPublished(agent, published)
	asPublished(agent, own)
	if *published.Temperature != 0 || published.CellTimeout != 310*time.Second ||
		*own.Temperature != 0.5 || own.CellTimeout != time.Minute {
		t.Errorf("%v %v, own %v %v", *published.Temperature, published.CellTimeout, *own.Temperature,
			own.CellTimeout)
	}
}

package bench

import (
	"maps"
	"testing"
	"time"

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

// TestAsPublished: an agent's published settings are applied and recorded, and the user's own
// override them.
func TestAsPublished(t *testing.T) {
	t.Parallel()
	s := load(t, configs.Sources{})
	if set := asPublished("da-agent", s); s.Temperature == nil || *s.Temperature != 0 ||
		s.CellTimeout != 310*time.Second || !maps.Equal(set, publishedBy("da-agent")) ||
		!maps.Equal(set, map[string]string{"temperature": "0", "cell_timeout": "5m10s"}) {
		t.Errorf("%v, %v, %v", set, s.Temperature, s.CellTimeout)
	}
	if all := publishedBy("dsstar"); len(all) > 0 {
		t.Errorf("of dsstar: %v", all)
	}
	s = load(t, configs.Sources{Flags: map[string]configs.Flag{
		"cell_timeout": {Name: "--cell-timeout", Value: time.Minute},
		"temperature":  {Name: "--temperature", Value: "0.5"},
	}})
	if set := asPublished("da-agent", s); len(set) > 0 || *s.Temperature != 0.5 ||
		s.CellTimeout != time.Minute {
		t.Errorf("%v, %v, %v", set, *s.Temperature, s.CellTimeout)
	}
}

package bench

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"dsstar/cmd/dsstar/internal/progress"
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

// TestServersAllWork: with more servers than jobs, every server gets a task, and each is
// reported as unsandboxed.
func TestServersAllWork(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	r := &run{settings: load(t, configs.Sources{}), progress: progress.New(&stderr, progress.Options{}),
		App: &App{Agree: func(context.Context, *progress.Progress, bool, []string, string, string) error { return nil }},
		flags: &runFlags{jobs: 1,
			servers: []string{"http://127.0.0.1:1/?token=hunter2", "http://127.0.0.1:2/"}}}
	err := r.findPlaces(t.Context())
	r.progress.Stop()
	if err != nil || len(r.sites) != 2 || r.flags.jobs != 2 {
		t.Errorf("%v, %d sites, %d jobs", err, len(r.sites), r.flags.jobs)
	}
	said := stderr.String()
	if !strings.Contains(said, "sandbox  none (of a server): http://127.0.0.1:1/\n") ||
		!strings.Contains(said, "sandbox  none (of a server): http://127.0.0.1:2/\n") || strings.Contains(said, "hunter2") {
		t.Error(said)
	}
}

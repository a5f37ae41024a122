package main

import (
	"maps"
	"strings"
	"testing"
	"time"

	"dsstar/configs"
)

// TestAsPublished has agents with published settings, which are recorded, and which
// the user's own go before.
func TestAsPublished(t *testing.T) {
	t.Parallel()
	load := func(flags map[string]configs.Flag) *configs.Settings {
		s, err := configs.Load(configs.Sources{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := load(nil)
	if set := asPublished("da-agent", s); s.Temperature == nil || *s.Temperature != 0 || s.CellTimeout != 310*time.Second ||
		set["temperature"] != "0" || set["cell_timeout"] != "5m10s" || !maps.Equal(set, publishedBy("da-agent")) {
		t.Errorf("%v, %v, %v", set, s.Temperature, s.CellTimeout)
	}
	if all := publishedBy("dsstar"); len(all) > 0 {
		t.Errorf("of dsstar: %v", all)
	}
	s = load(nil)
	if set := asPublished("autogen", s); s.Temperature != nil || s.CellTimeout != 310*time.Second || len(set) != 1 {
		t.Errorf("%v, %v, %v", set, s.Temperature, s.CellTimeout)
	}
	s = load(map[string]configs.Flag{"cell_timeout": {Name: "--cell-timeout", Value: time.Minute}, "temperature": {Name: "--temperature", Value: "0.5"}})
	if set := asPublished("da-agent", s); len(set) > 0 || *s.Temperature != 0.5 || s.CellTimeout != time.Minute {
		t.Errorf("%v, %v, %v", set, *s.Temperature, s.CellTimeout)
	}
}

// TestBenchServersAllWork has more servers than jobs: none is left without a task, and
// each is told to be outside the sandbox.
func TestBenchServersAllWork(t *testing.T) {
	t.Parallel()
	a, _, stderr := testApp(t)
	s, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	r := &benchRun{app: a.app, settings: s, progress: a.newProgress(false), flags: &benchFlags{
		jobs: 1, yes: true, servers: []string{"http://127.0.0.1:1/?token=hunter2", "http://127.0.0.1:2/"}}}
	err = r.findPlaces(t.Context())
	r.progress.Stop()
	if err != nil || len(r.places) != 2 || r.flags.jobs != 2 {
		t.Errorf("%v, %d places, %d jobs", err, len(r.places), r.flags.jobs)
	}
	contains(t, stderr.String(), "sandbox  none (of a server): http://127.0.0.1:1/\n", "sandbox  none (of a server): http://127.0.0.1:2/\n")
	if strings.Contains(stderr.String(), "hunter2") {
		t.Errorf("the token is shown: %s", stderr)
	}
}

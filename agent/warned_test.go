package agent

import (
	"testing"

	"dsstar/agent/record"
)

// A warning is told and recorded once, however often there is reason for it (U15).
func TestWarnsOnce(t *testing.T) {
	told := 0
	count := func(Event, *record.Trajectory) error { told++; return nil }
	r := newRun(Config{Observe: count}, &record.Trajectory{Warnings: []string{"known"}})
	for _, text := range []string{"one", "known", "one", "two", "one"} {
		if err := r.Warn(text); err != nil {
			t.Fatal(err)
		}
	}
	if told != 3 || len(r.t.Warnings) != 3 {
		t.Errorf("told %d, recorded %q", told, r.t.Warnings)
	}
}

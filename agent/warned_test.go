package agent

import (
	"testing"

	"dsstar/agent/record"
)

// A warning is told and recorded once, however often there is reason for it (U15).
func TestWarnsOnce(t *testing.T) {
	told := 0
	r := newRun(Config{Observe: func(Event, *record.Trajectory) error { told++; return nil }}, &record.Trajectory{Warnings: []string{"known"}})
	for _, text := range []string{"one", "known", "one", "two", "one"} {
		if err := r.observe(Event{Kind: Warned, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if told != 3 || len(r.t.Warnings) != 3 {
		t.Errorf("told %d, recorded %q", told, r.t.Warnings)
	}
}

package record

import (
	"slices"
	"testing"

	"dsstar/notebook"
)

// TestAt: a round begins with the plan as it was then, whatever became of it.
func TestAt(t *testing.T) {
	ok, raised := notebook.Execution{Status: notebook.OK}, notebook.Execution{Status: notebook.Raised}
	round := func(name string, back int) Round {
		return Round{Step: name, Attempts: []Attempt{{Code: name + "?", Execution: raised},
			{Code: name, Execution: ok}}, Route: &Route{Back: back}}
	}
	failed := Round{Step: "d", Attempts: []Attempt{{Code: "d", Execution: raised}},
		Route: &Route{Back: 2}}
	run := New(Task{Data: "/data"}, Question{Final: &Final{Derived: Derived{Attempts: []Attempt{{Code: "print(1)", Execution: ok}}}}})
	for _, r := range []Round{round("a", 0), round("b", 0), round("c", 2), failed, round("e", 0), {Step: "f"}} {
		run.Begin(r.Step).Attempts = r.Attempts
		if r.Route != nil {
			run.Take(*r.Route)
		}
	}
	for i, want := range [][]string{{}, {"a"}, {"a", "b"}, {"a"}, {"a"}, {"a", "e"}} {
		r, cells, found := run.At(i + 1)
		if !found || len(cells) < 2 || !slices.Equal(cells[2:], want) ||
			cells[0] != "data_dir = \"/data\"\nquestion = \"\"" {
			t.Errorf("round %d: %q, want %q", i+1, cells, want)
		}
		if len(r.Attempts) != len(run.Rounds[i].Attempts) {
			t.Errorf("round %d: %d attempts", i+1, len(r.Attempts))
		}
	}
	run.Method.Script = true // every script runs on its own
	if _, cells, _ := run.At(3); len(cells) != 2 {
		t.Errorf("of scripts: %q", cells)
	}
}

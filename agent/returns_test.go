package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// wayward is a run that goes back before a repair, after a wrong step, and at the last
// cell.
var wayward = simple.with(script{
	"verifier round 1": no, "planner round 2": "Two.", "coder round 2": "die()", "debugger round 2, try 2": "x += \"!\"", "verifier round 2": no,
	"router round 2": "Step 2", "coder round 3": "print(x)", "verifier round 3": yes, "finalizer": "die()", "debugger the answer, try 2": "print(x)",
})

var (
	quickly = notebook.Restoration{Way: notebook.ByCheckpoint, Kept: 3, Seconds: 0.02}
	slowly  = notebook.Restoration{Way: notebook.ByReplay, Why: "process <sleep>", Seconds: 1.5}
)

// TestReturns: the record has which way was taken, where, and why not a better one.
func TestReturns(t *testing.T) {
	p := play(t, wayward, func(s *stage) { s.world.ways = []notebook.Restoration{quickly, slowly, quickly} }).noError(t)
	want := []record.Return{{After: 1, Restoration: quickly}, {After: 2, Restoration: slowly}}
	if diff := cmp.Diff(want, p.Rounds[1].Returns) + cmp.Diff([]record.Return{{After: 1, Restoration: quickly}}, p.Final.Returns); diff != "" {
		t.Error(diff)
	}
	nb := readNotebook(t, p.Trajectory)
	for id, parts := range map[string][]string{
		"round-2": {"printed\n", "→ the session went back by checkpoint\n", "the plan goes back to before it, the session by replay (process &lt;sleep&gt;)."},
		"answer":  {"Try 1 failed", "→ the session went back by checkpoint\n"},
		"proof":   {"- The session went back 3 times, in 1.54 s: 2 by checkpoint, 1 by replay (process &lt;sleep&gt;).\n"},
	} {
		i := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool { return c.ID == id })
		for _, part := range parts {
			if !strings.Contains(nb.Cells[i].Source, part) {
				t.Errorf("%s does not say %q:\n%s", id, part, nb.Cells[i].Source)
			}
		}
	}
	var told []string
	for _, e := range p.events {
		if e.Kind == agent.WentBack {
			told = append(told, e.Text)
		}
	}
	if diff := cmp.Diff([]string{"by checkpoint", "by replay (process <sleep>)", "by checkpoint"}, told); diff != "" {
		t.Error(diff)
	}
}

// TestReturnsAreQuiet: how long it took is in the last cell, and nowhere else.
func TestReturnsAreQuiet(t *testing.T) {
	drawn := func(seconds float64) []notebook.Cell {
		p := play(t, wayward, func(s *stage) {
			one, other := quickly, slowly
			one.Seconds, other.Seconds = seconds, 2*seconds
			s.world.ways = []notebook.Restoration{one, other, one}
		}).noError(t)
		return readNotebook(t, p.Trajectory).Cells
	}
	a, b := drawn(1), drawn(2)
	for i := range a[:len(a)-1] {
		if diff := cmp.Diff(a[i], b[i]); diff != "" {
			t.Error(diff)
		}
	}
	if last := len(a) - 1; a[last].Source == b[last].Source {
		t.Error("the last cell is the same")
	}
}

// TestNoReturns: that nothing goes back is said once.
func TestNoReturns(t *testing.T) {
	p := play(t, wayward.with(script{"coder round 2": `raise KeyError("k")`, "debugger round 2, try 2": "y = x", "finalizer": "print(nothing)"}), func(s *stage) {
		s.world.ways = []notebook.Restoration{{Way: notebook.NotAtAll}}
	}).noError(t)
	said := slices.DeleteFunc(slices.Clone(p.Warnings), func(w string) bool { return !strings.HasPrefix(w, "going back is off") })
	if len(said) != 1 || slices.Contains(p.kinds, agent.WentBack) || len(p.Rounds[1].Returns) != 2 {
		t.Errorf("warnings %q, events %v, returns %+v", p.Warnings, p.kinds, p.Rounds[1].Returns)
	}
	nb := readNotebook(t, p.Trajectory)
	if text := nb.Cells[len(nb.Cells)-1].Source; strings.Contains(text, "The session went back") || !strings.Contains(text, "Warning: going back is off") {
		t.Errorf("the last cell says\n%s", text)
	}
}

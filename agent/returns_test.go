package agent_test

import (
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// wayward is a run that goes back before a repair, after a wrong step, and at the last cell.
var wayward = simple.with(script{
	"verdict round 1": no, "cell round 2": "die()", "debugger round 2, try 2": "x += \"!\"",
	"verdict round 2": bad, "wrong round 2": "2", "cell round 3": "print(x)",
	"last": "die()", "debugger the answer, try 2": "print(x)",
})

// TestReturns: the record has which way was taken, where, and why not a better one, and the
// notebook says it.
func TestReturns(t *testing.T) {
	quickly := notebook.Restoration{Way: notebook.ByCheckpoint, Kept: 3, Seconds: 0.02}
	slowly := notebook.Restoration{Way: notebook.ByReplay, Why: "process <sleep>", Seconds: 1.5}
	p := play(t, wayward, func(s *stage) { s.world.ways = []notebook.Restoration{quickly, slowly, quickly} }).noError(t)
	equal(t, "in the round", p.Rounds[1].Returns,
		[]record.Return{{After: 1, Restoration: quickly}, {After: 2, Restoration: slowly}})
	equal(t, "at the last cell", p.Final.Returns, []record.Return{{After: 1, Restoration: quickly}})
	var told []string
	for _, e := range p.events {
		if e.Kind == agent.WentBack {
			told = append(told, e.Text)
		}
	}
	equal(t, "told", told, []string{"by checkpoint", "by replay (process <sleep>)", "by checkpoint"})
	nb := readNotebook(t, p.Trajectory)
	contains(t, nb.Cells[cellOf(t, nb, "tried")].Source, "by replay (process &lt;sleep&gt;)")
}

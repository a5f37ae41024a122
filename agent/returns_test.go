package agent_test

import (
	"testing"

	"dsstar/agent"
	"dsstar/notebook"
)

// wayward is a run that goes back before a repair, after a wrong step, and at the last cell.
var wayward = simple.with(script{
	"verdict round 1": no, "cell round 2": "die()", "debugger round 2, try 2": "x += \"!\"",
	"verdict round 2": bad, "wrong round 2": "2", "cell round 3": "print(x)",
	"last": "die()", "debugger the answer, try 2": "print(x)",
})

// TestReturns: which way was taken is told, and why not a better one.
func TestReturns(t *testing.T) {
	quickly := notebook.Restoration{Way: notebook.ByCheckpoint, Kept: 3, Seconds: 0.02}
	slowly := notebook.Restoration{Way: notebook.ByReplay, Why: "process <sleep>", Seconds: 1.5}
	p := play(t, wayward, func(s *stage) { s.world.ways = []notebook.Restoration{quickly, slowly, quickly} }).noError(t)
	var told []string
	for _, e := range p.events {
		if e.Kind == agent.WentBack {
			told = append(told, e.Text)
		}
	}
	equal(t, "told", told, []string{"by checkpoint", "by replay: process <sleep>", "by checkpoint"})
}

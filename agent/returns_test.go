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

var (
	quickly = notebook.Restoration{Way: notebook.ByCheckpoint, Kept: 3, Seconds: 0.02}
	slowly  = notebook.Restoration{Way: notebook.ByReplay, Why: "process <sleep>", Seconds: 1.5}
)

// TestReturns: the record has which way was taken, where, and why not a better one; the notebook
// says how long it took in its last cell, and nowhere else.
func TestReturns(t *testing.T) {
	drawn := func(quickly, slowly notebook.Restoration) (*played, []notebook.Cell) {
		p := play(t, wayward, func(s *stage) {
			s.world.ways = []notebook.Restoration{quickly, slowly, quickly}
		}).noError(t)
		return p, readNotebook(t, p.Trajectory).Cells
	}
	p, cells := drawn(quickly, slowly)
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
	for id, text := range map[string]string{
		"tried": "by replay (process &lt;sleep&gt;)",
		"proof": "3 times, in 1.54 s",
	} {
		contains(t, nb.Cells[cellOf(t, nb, id)].Source, text)
	}
	other := slowly
	other.Seconds = 7
	_, others := drawn(quickly, other)
	last := len(cells) - 1
	if equal(t, "cells", others[:last], cells[:last]); others[last].Source == cells[last].Source {
		t.Error("the last cell is the same")
	}
}

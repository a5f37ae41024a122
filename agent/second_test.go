package agent_test

import (
	"context"
	"errors"
	"testing"

	"dsstar/agent"
	"dsstar/agent/page"
	"dsstar/notebook"
)

// another is a run whose second derivation finds another answer, 2.
var another = simple.with(script{"second": "z = 2\nz", "step round 2": "Anew.",
	"cell round 2": "x = 2\nprint(x)"})

// corrected is a ruling that the second derivation has a mistake, and the cell of the next one.
func corrected(cell string) script {
	return script{"second the answer, again 1": cell, "second the answer, again 2": cell,
		"arbiter": "Ruling: second\nReason: it counts twice"}
}

// TestDerivedAnew: after a mistake of the second derivation the question is answered anew, by a
// request that sees what was wrong, and nothing of either derivation. A ruling that brings code
// runs none of it.
func TestDerivedAnew(t *testing.T) {
	replies := simple.with(script{"cell": "x = 12345\nprint(x)", "second": "z = 678\nz",
		"second the answer, again 1": "z = 678\nz", "arbiter two answers, again 1": "Ruling: undecided",
		"arbiter": "Ruling: second\nReason: it leaves rows out, as 12,345 and not 678 is right\n\n" +
			"```python\nz = 12345\nz\n```"})
	p := play(t, replies).noError(t)
	if p.Standing() != "not verified" || p.Answer() != "12345" || p.Second.Answer != "678" {
		t.Errorf("answer %q, %s: %q", p.Answer(), p.Standing(), p.Doubts())
	}
	anew := p.model.prompt(t, "second the answer, again 1")
	contains(t, anew, "it leaves rows out", "not 678 is right")
	lacks(t, anew, "12,345", "12345", "z = 678", "Do the next thing")
	nb := page.Draw(p.Trajectory)
	contains(t, nb.Cells[cellOf(t, nb, "second")].Source, "12345", "678", "leaves rows out", "told what was found wrong")
	lacks(t, p.model.prompt(t, "second the answer"), "mistake")
}

// TestSecondSeesNothing: the request for the second derivation has no step, cell or output of the
// first, but what a person has noted.
func TestSecondSeesNothing(t *testing.T) {
	p := play(t, three).noError(t)
	tr := must(edited(t, p.Trajectory, insert("step-3", note("Mind the gap."))))
	again := goOn(t, more, tr).noError(t)
	for _, played := range []*played{p, again} {
		asked := played.model.prompt(t, "second the answer")
		contains(t, asked, "How many?", "A value.", "a table")
		for _, r := range played.Rounds {
			if r.Step != "" {
				lacks(t, asked, r.Step)
			}
			for _, a := range r.Attempts {
				lacks(t, asked, a.Code, "\n"+a.Execution.Stdout())
			}
		}
	}
	contains(t, again.model.prompt(t, "second the answer"), "Mind the gap.")
}

// refuses has a session of a purpose fail to open.
func refuses(purpose agent.Purpose, err error) func(*stage) {
	return func(s *stage) {
		s.world.open = func(_ context.Context, p agent.Purpose) error {
			if p == purpose {
				return err
			}
			return nil
		}
	}
}

// TestSecondIsApart: it runs on what the set-up leaves, in a session of its own if there can be
// one, and nothing of it stays.
func TestSecondIsApart(t *testing.T) {
	for _, refusal := range []error{nil, errors.ErrUnsupported} {
		p := play(t, three.with(script{"second": "x = 123\nx"}), refuses(agent.Second, refusal)).noError(t)
		var begins []string // the first cells of its session, whose data folder has its whole path
		rolled := p.world.of(agent.Work)[0].rolled
		if refusal != nil {
			begins = rolled[len(rolled)-2]
			equal(t, "the session goes back to", rolled[len(rolled)-1], p.Cells())
		} else {
			begins = p.world.of(agent.Second)[0].ran[:2]
			equal(t, "times that the run's session went back", len(rolled), 0)
		}
		equal(t, "it begins with", begins, p.Cells()[:2])
		if s := p.Second; !p.Verified() || s.Answer != "123" || s.Together != (refusal != nil) {
			t.Errorf("%q, %+v", p.Doubts(), s)
		}
		for _, c := range page.Draw(p.Trajectory).Cells {
			if c.Type == notebook.Code {
				lacks(t, c.Source, "x = 123")
			}
		}
	}
}

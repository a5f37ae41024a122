package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// of3 has three candidates for every step.
func of3(s *stage) { s.config.Method.Candidates = 3 }

// forked is a run whose second step has three candidates, which all change the same variable; those
// for the first are equal.
var forked = simple.with(script{
	"verdict round 1": no, "step round 2": "Two.",
	"cell round 2":                "x += \"a\"\nwrite(f, x)\nprint(x)",
	"cell round 2, candidate 2":   "x += \"b\"\nwrite(f, x)\nprint(x)",
	"cell round 2, candidate 3":   "x += \"c\"\nwrite(g, x)\nprint(x)",
	"verdict round 2, candidates": "Choice: 2\nReason: only b counts", "verdict round 2": yes,
})

// tried are the attempts at a round's cell, in short.
func tried(r record.Round) string {
	var all []string
	for i, a := range r.Attempts {
		out := strings.TrimSpace(a.Execution.Stdout())
		all = append(all, strings.TrimSpace(fmt.Sprint(r.Label(i), " ", a.Execution.Status, " ", out)))
	}
	return strings.ReplaceAll(strings.Join(all, "; "), "Candidate ", "")
}

func TestCandidates(t *testing.T) {
	const b, same, fails = "only b counts", "y = x\nprint(y)", `raise KeyError("k")`
	for _, c := range []struct {
		name    string
		replies script
		pick    record.Pick
		tried   string
		rolled  int // how often the session went back in round 2
		asked   int // how often the verifier was
		answer  string
	}{
		{"the second of three", nil, record.Pick{Candidate: 2, Of: 3, Reason: b},
			"1 ok 1a; 3 ok 1c; 2 ok 1b", 3, 3, "1b"},
		{"the last, where the session is already", script{"verdict round 2, candidates": "3"},
			record.Pick{Candidate: 3, Of: 3}, "1 ok 1a; 2 ok 1b; 3 ok 1c", 2, 3, "1c"},
		{"two are equal", script{"cell round 2, candidate 2": forked["cell round 2"],
			"verdict round 2, candidates": "3"},
			record.Pick{Candidate: 3, Of: 3}, "1 ok 1a; 3 ok 1c", 1, 3, "1c"},
		{"all are equal", script{"cell round 2": same,
			"cell round 2, candidate 2": same, "cell round 2, candidate 3": same},
			record.Pick{Candidate: 1, Of: 3}, "1 ok 1", 0, 2, "1"},
		{"one runs", script{"cell round 2": fails, "cell round 2, candidate 3": "die()"},
			record.Pick{Candidate: 2, Of: 3}, "1 error; 3 died; 2 ok 1b", 3, 2, "1b"},
		{"no choice that can be read", script{"cell round 2": fails,
			"verdict round 2, candidates":              "Choice: 1",
			"verdict round 2, candidates, asked again": "2 or 3"},
			record.Pick{Candidate: 2, Of: 3, Reason: "the verifier made no choice that could be read, " +
				"and this is the first that ran"}, "1 error; 3 ok 1c; 2 ok 1b", 3, 4, "1b"},
		{"a reply without code", script{"coder round 2, candidate 2": "raw:",
			"coder round 2, candidate 2, asked again": "raw:", "verdict round 2, candidates": "3"},
			record.Pick{Candidate: 3, Of: 3}, "1 ok 1a; 3 ok 1c", 1, 3, "1c"},
		{"none runs", script{"cell round 2": fails, "cell round 2, candidate 2": "die()",
			"cell round 2, candidate 3": "hang()", "debugger round 2, try 2": "y = x\nprint(y)"},
			record.Pick{}, "1 error; 2 died; 3 timeout; Try 2 ok 1", 3, 2, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, forked.with(c.replies), of3).noError(t)
			round := p.Rounds[1]
			equal(t, "attempts", tried(round), c.tried)
			if round.Pick == nil {
				round.Pick = &record.Pick{}
			}
			equal(t, "picked", *round.Pick, c.pick)
			if back, asked := len(round.Returns), p.model.count("judge")+
				p.model.count("verifier"); back != c.rolled ||
				asked != c.asked {
				t.Errorf("it went back %d times, and the verifier was asked %d times", back, asked)
			}
			if p.Answer() != c.answer || !p.Verified() {
				t.Errorf("answer %q, verified %v", p.Answer(), p.Verified())
			}
		})
	}
}

// The same beginning for all candidates, with one sentence more at the end; the verifier sees those
// that ran, and the reader what was not chosen, not as a code cell.
func TestCandidatesAreShown(t *testing.T) {
	p := play(t, forked.with(script{"cell round 2, candidate 2": "die()",
		"verdict round 2, candidates": "Choice: 3\nReason: a < c"}), of3).noError(t)
	two, three := p.model.prompt(t, "coder round 2, candidate 2"),
		p.model.prompt(t, "coder round 2, candidate 3")
	equal(t, "the third's", three, strings.Replace(two, "number 2", "number 3", 1))
	contains(t, two, "Step 2: Two.", "number 2")
	asked := p.model.prompt(t, "verifier round 2, candidates")
	contains(t, asked, "Step 2: Two.", "## Candidate 1\n", "1a\n", "## Candidate 3\n", "1c\n")
	lacks(t, asked, "Candidate 2", "die()")
	contains(t, p.model.prompt(t, "judge round 2"), `"c"`)
	lacks(t, p.model.prompt(t, "judge round 2"), `"a"`)
	nb := readNotebook(t, p.Trajectory)
	contains(t, nb.Cells[cellOf(t, nb, "tried")].Source, "Candidate 1, not chosen: a &lt; c",
		`x += "a"`, "die()")
	for _, c := range nb.Cells {
		if c.Type == notebook.Code {
			lacks(t, c.Source, `"a"`, "die()")
		}
	}
	if cells, attempts := p.At(2); len(cells) != 3 || len(attempts) != 3 {
		t.Errorf("round 2 began with %q, and had %d attempts", cells, len(attempts))
	}
}

// Whole scripts, and cells that a person is asked about, have no rivals.
func TestOneCandidate(t *testing.T) {
	reviewed := play(t, simple, of3, func(s *stage) {
		s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
			return accepted(p.Code), nil
		}
	}).noError(t)
	paper := play(t, published,
		func(s *stage) { s.config.Method = record.Paper() }, of3).noError(t)
	for _, p := range []*played{reviewed, paper} {
		if n := p.model.count("coder"); n > 1 {
			t.Errorf("%d cells were asked for", n)
		}
	}
}

// A candidate that prints something else when the session is put to where it left it, or does not
// run then, is like a step that does.
func TestPickedRunsAgain(t *testing.T) {
	p := play(t, forked.with(script{"cell round 2, candidate 2": "x += tick()\nprint(x)"}), of3)
	if a, _ := p.noError(t).Rounds[1].Accepted(); a.Execution.Stdout() != "12\n" {
		t.Errorf("it printed %q", a.Execution.Stdout())
	}
	p.warned(t, "step 2 printed something else")
	p = play(t, forked.with(script{"cell round 2, candidate 2": "once()\nx += \"b\"\nprint(x)",
		"cell round 3": "print(x)", "cell round 3, candidate 2": "y = x",
		"cell round 3, candidate 3": "z = x", "verdict round 3, candidates": "1"}), of3).noError(t)
	if r := p.Rounds[1].Route; r == nil || r.Back != 2 || p.Answer() != "1" ||
		!strings.Contains(r.Reason, "once() a second time") {
		t.Errorf("route %+v, answer %q", r, p.Answer())
	}
}

// Exactly as many calls are made as are allowed, and a run that had too few goes on.
func TestCandidatesBudget(t *testing.T) {
	whole := play(t, forked, of3).noError(t)
	all := len(whole.model.asked)
	for most := 1; most < all; most++ {
		r := &recorder{}
		p := play(t, forked, of3, r.record, func(s *stage) {
			s.config.Limits.Calls, s.quick = most, true
		})
		p.spent(t, "max-calls")
		if n := len(p.model.asked); n != most {
			t.Errorf("%d calls of %d", n, most)
		}
		goOnAfter(t, whole, forked, r.last)
	}
	estimate := whole.events[slices.Index(whole.kinds, agent.Estimated)].Text
	contains(t, estimate, "6 to 23 model calls")
}

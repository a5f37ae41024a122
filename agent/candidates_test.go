package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// of3 has three candidates for every step.
func of3(s *stage) { s.config.Method.Candidates = 3 }

// forked is a run whose second step has three candidates, which all change the same
// variable; those for the first are equal.
var forked = simple.with(script{
	"verifier round 1": no, "planner round 2": "Two.", "coder round 2": "x += \"a\"\nwrite(f, x)\nprint(x)", "coder round 2, candidate 2": "x += \"b\"\nwrite(f, x)\nprint(x)",
	"coder round 2, candidate 3": "x += \"c\"\nwrite(g, x)\nprint(x)", "verifier round 2, candidates": "Choice: 2\nReason: only b counts", "verifier round 2": yes,
})

// tried are the attempts at a round's cell, in short.
func tried(r record.Round) (all []string) {
	for i, a := range r.Attempts {
		all = append(all, fmt.Sprintf("%s: %s %s", r.Label(i), a.Execution.Status, strings.TrimSpace(a.Execution.Stdout())))
	}
	return all
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies script
		pick    record.Pick
		tried   []string
		rolled  int // how often the session went back in round 2
		asked   int // how often the verifier was
		answer  string
	}{
		{"the second of three", nil, record.Pick{Candidate: 2, Of: 3, Reason: "only b counts"},
			[]string{"Candidate 1: ok 1a", "Candidate 3: ok 1c", "Candidate 2: ok 1b"}, 3, 3, "1b"},
		{"the last", script{"verifier round 2, candidates": "**Choice:** candidate 3."}, record.Pick{Candidate: 3, Of: 3},
			[]string{"Candidate 1: ok 1a", "Candidate 2: ok 1b", "Candidate 3: ok 1c"}, 2, 3, "1c"}, // where the session is already
		{"two are equal", script{"coder round 2, candidate 2": "x += \"a\"\nwrite(f, x)\nprint(x)", "verifier round 2, candidates": "3"}, record.Pick{Candidate: 3, Of: 3},
			[]string{"Candidate 1: ok 1a", "Candidate 3: ok 1c"}, 1, 3, "1c"},
		{"all are equal", script{"coder round 2": "y = x\nprint(y)", "coder round 2, candidate 2": "y = x\nprint(y)", "coder round 2, candidate 3": "y = x\nprint(y)"},
			record.Pick{Candidate: 1, Of: 3}, []string{"Candidate 1: ok 1"}, 0, 2, "1"},
		{"one runs", script{"coder round 2": `raise KeyError("k")`, "coder round 2, candidate 3": "die()"}, record.Pick{Candidate: 2, Of: 3},
			[]string{"Candidate 1: error ", "Candidate 3: died ", "Candidate 2: ok 1b"}, 3, 2, "1b"},
		{"a choice that is read when asked again", script{"verifier round 2, candidates": "Hard to say.", "verifier round 2, candidates, asked again": "Choice: 3\nReason: it is"},
			record.Pick{Candidate: 3, Of: 3, Reason: "it is"}, []string{"Candidate 1: ok 1a", "Candidate 2: ok 1b", "Candidate 3: ok 1c"}, 2, 4, "1c"},
		{"no choice that can be read", script{"coder round 2": `raise KeyError("k")`, "verifier round 2, candidates": "Choice: 1", "verifier round 2, candidates, asked again": "2 or 3"},
			record.Pick{Candidate: 2, Of: 3, Reason: "the verifier made no choice that could be read, and this is the first that ran"},
			[]string{"Candidate 1: error ", "Candidate 3: ok 1c", "Candidate 2: ok 1b"}, 3, 4, "1b"},
		{"a reply without code", script{"coder round 2": "raw:", "coder round 2, asked again": "raw:"}, record.Pick{Candidate: 2, Of: 3, Reason: "only b counts"},
			[]string{"Candidate 3: ok 1c", "Candidate 2: ok 1b"}, 2, 3, "1b"},
		{"none runs", script{"coder round 2": `raise KeyError("k")`, "coder round 2, candidate 2": "die()", "coder round 2, candidate 3": "hang()", "debugger round 2, try 2": "y = x\nprint(y)"},
			record.Pick{}, []string{"Candidate 1: error ", "Candidate 2: died ", "Candidate 3: timeout ", "Try 2: ok 1"}, 3, 2, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, forked.with(c.replies), of3).noError(t)
			round := p.Rounds[1]
			if diff := cmp.Diff(c.tried, tried(round)); diff != "" {
				t.Errorf("attempts (-want +got)\n%s", diff)
			}
			if c.pick == (record.Pick{}) != (round.Pick == nil) || round.Pick != nil && *round.Pick != c.pick {
				t.Errorf("picked %+v, want %+v", round.Pick, c.pick)
			}
			if n := len(round.Returns); n != c.rolled {
				t.Errorf("it went back %d times", n)
			}
			if n := p.model.count("verifier"); n != c.asked {
				t.Errorf("the verifier was asked %d times: %q", n, p.model.asked)
			}
			if p.Answer() != c.answer || !p.Verified() {
				t.Errorf("answer %q, verified %v", p.Answer(), p.Verified())
			}
		})
	}
}

// What is asked: the same beginning for all candidates, with one sentence more at the
// end; the verifier sees those that ran.
func TestCandidatesWords(t *testing.T) {
	p := play(t, forked.with(script{"coder round 2, candidate 2": "die()", "verifier round 2, candidates": "Choice: 3"}), of3).noError(t)
	first := p.model.prompt(t, "coder round 2")
	for n, sentence := range []string{"Your cell is number 2 of several", "Your cell is number 3 of several"} {
		text := p.model.prompt(t, fmt.Sprintf("coder round 2, candidate %d", n+2))
		if rest, ok := strings.CutPrefix(text, first); !ok || !strings.HasPrefix(strings.TrimSpace(rest), sentence) {
			t.Errorf("after the beginning: %q", rest)
		}
	}
	asked := p.model.prompt(t, "verifier round 2, candidates")
	for _, part := range []string{"Step 2: Two.", "## Candidate 1\n", "1a\n", "## Candidate 3\n", "1c\n", "Pick the candidate"} {
		if !strings.Contains(asked, part) {
			t.Errorf("the verifier does not see %q:\n%s", part, asked)
		}
	}
	if strings.Contains(asked, "Candidate 2") || strings.Contains(asked, "die()") {
		t.Errorf("the verifier sees a candidate that did not run:\n%s", asked)
	}
	if text := p.model.prompt(t, "verifier round 2"); strings.Contains(text, `"a"`) || !strings.Contains(text, `"c"`) {
		t.Errorf("the verdict is on other cells:\n%s", text)
	}
	one := play(t, forked).noError(t)
	if one.model.prompt(t, "coder round 2") != first {
		t.Error("the first candidate is not asked for as the only one is")
	}
}

// The reader sees what was not chosen, and why; it is not a code cell.
func TestCandidatesInNotebook(t *testing.T) {
	p := play(t, forked.with(script{"verifier round 2, candidates": "Choice: 2\nReason: a < b"}), of3, func(s *stage) {
		s.world.ways = []notebook.Restoration{{Way: notebook.ByCheckpoint, Kept: 3, Seconds: 0.02}}
	}).noError(t)
	for _, c := range readNotebook(t, p.Trajectory).Cells {
		if c.ID == "round-2" {
			for _, part := range []string{"Candidate 1, not chosen: a &lt; b", "Candidate 3, not chosen", "x += \"c\"", "→ the session went back by checkpoint\n"} {
				if !strings.Contains(c.Source, part) {
					t.Errorf("it does not say %q:\n%s", part, c.Source)
				}
			}
		}
		if c.Type == notebook.Code && (strings.Contains(c.Source, `"a"`) || strings.Contains(c.Source, `"c"`)) {
			t.Errorf("a discarded candidate can run: %s", c.Source)
		}
	}
	cells, attempts := p.At(2)
	if len(cells) != 3 || len(attempts) != 3 {
		t.Errorf("round 2 began with %q, and had %d attempts", cells, len(attempts))
	}
}

// Whole scripts, and cells that a person is asked about, have no rivals.
func TestOneCandidate(t *testing.T) {
	p := play(t, simple, of3, func(s *stage) {
		s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
			return agent.Decision{Choice: agent.Accept, Code: p.Code}, nil
		}
	}).noError(t)
	if n := p.model.count("coder"); n != 1 {
		t.Errorf("%d cells were asked for", n)
	}
	p = play(t, simple.with(script{"verifier": "Yes", "finalizer": "print(1)"}), func(s *stage) { s.config.Method = record.Paper() }, of3).noError(t)
	if n := p.model.count("coder"); n != 1 {
		t.Errorf("%d scripts were asked for", n)
	}
}

// A candidate that prints something else when the session is put to where it left
// it, or does not run then, is like a step that does.
func TestPickedRunsAgain(t *testing.T) {
	t.Run("something else", func(t *testing.T) {
		p := play(t, forked.with(script{"coder round 2, candidate 2": "x += tick()\nprint(x)"}), of3).noError(t)
		a, _ := p.Rounds[1].Accepted()
		if a.Execution.Stdout() != "12\n" || !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "step 2 printed something else") }) {
			t.Errorf("it printed %q; warnings %q", a.Execution.Stdout(), p.Warnings)
		}
	})
	t.Run("fails", func(t *testing.T) {
		p := play(t, forked.with(script{"coder round 2, candidate 2": "once()\nx += \"b\"\nprint(x)", "coder round 3": "print(x)",
			"coder round 3, candidate 2": "y = x", "coder round 3, candidate 3": "z = x", "verifier round 3, candidates": "1", "verifier round 3": yes}), of3).noError(t)
		if r := p.Rounds[1]; r.Route == nil || r.Route.Back != 2 || !strings.Contains(r.Route.Reason, "once() a second time") || p.Answer() != "1" {
			t.Errorf("route %+v, answer %q", r.Route, p.Answer())
		}
	})
}

// Exactly as many calls are made as are allowed, and a run that had too few goes on.
func TestCandidatesBudget(t *testing.T) {
	whole := play(t, forked, of3).noError(t)
	all := len(whole.model.asked)
	for most := 1; most < all; most++ {
		r := &recorder{}
		p := play(t, forked, of3, r.record, func(s *stage) { s.config.Limits.Calls, s.quick = most, true })
		p.spent(t, "max-calls")
		last := r.all[len(r.all)-1]
		got := goOn(t, forked, reread(t, last.notebook), func(s *stage) { s.config.Answered, s.quick = last.answered, true }).noError(t)
		if n := len(p.model.asked) + len(got.model.asked); n != all || got.Answer() != whole.Answer() {
			t.Errorf("%d calls, then %d of %d; answer %q", most, len(got.model.asked), all, got.Answer())
		}
	}
	estimate := func(p *played) string { return p.events[slices.Index(p.kinds, agent.Estimated)].Text }
	if one := play(t, simple).noError(t); estimate(one) == estimate(whole) || !strings.Contains(estimate(whole), "16 to 46 model calls") {
		t.Errorf("estimates %q, %q", estimate(one), estimate(whole))
	}
}

// A run in which the picked cell was changed by hand goes on with that.
func TestCandidatesEdited(t *testing.T) {
	p := play(t, forked, of3).noError(t)
	got := goOn(t, more.with(script{"finalizer": "print(x)"}), must(edited(t, p.Trajectory, source("step-2", `"b"`, `"d"`)))).noError(t)
	if got.Answer() != "1d" || len(got.Rounds[1].Attempts) != 3 || !got.Rounds[1].ByHand {
		t.Errorf("answer %q, round %+v", got.Answer(), got.Rounds[1])
	}
}

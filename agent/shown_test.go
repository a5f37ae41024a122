package agent_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
)

// long prints some 4 kB.
var long = "x = \"0123456789 abcdef\\n\"" + strings.Repeat("\nx += x", 8) + "\nprint(x)"

// size is how much a request says.
func size(r llm.Request) (n int) {
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}

// largeData is four files with descriptions of 4 kB.
func largeData(s *stage) {
	s.task.Files, s.world.profiles = filesOf("0.csv", "1.csv", "2.csv", "3.csv"), map[string]profile.Profile{}
	for _, f := range s.task.Files {
		s.world.profiles[f.Name] = profile.Profile{Format: "text", Headline: strings.Repeat("0123456789 abcdef\n", 250)}
	}
}

var large = simple.with(script{
	"cell": long, "last": "y = 1\nx += \" 1\"\nprint(y)\nx", "verdict": no,
	"verdict round 3": yes, "verdict round 2": bad, "wrong round 2": "2",
	"cell round 2": long + "\nraise KeyError(\"b\")", "debugger": "y = x\nprint(x)",
})

// tooLong has the requests of a role refused that are longer than limit bytes, or those of all.
func tooLong(role string, limit int) func(*stage) {
	return func(s *stage) {
		s.model.tooLong = func(r llm.Request) bool {
			return (role == "" || r.Role == role) && size(r) > limit
		}
	}
}

// cutOnce checks that each request that was too long was told of once, and that the run went on.
func (p *played) cutOnce(t reporter) (told []string) {
	t.Helper()
	told = slices.Compact(slices.Clone(p.model.refused))
	if p.Proof == nil || !p.Proof.Same || len(told) == 0 || len(p.Warnings) != len(told) {
		t.Errorf("verified %v, refused %q, warnings %q", p.Verified(), p.model.refused, p.Warnings)
	}
	return told
}

// A request that is longer than the model's context is made shorter until it fits, whoever makes
// it; every request that was cut is told of once, and a cut holds from then on, for all roles.
func TestTooLong(t *testing.T) {
	whole := play(t, large, largeData, tooLong("", 1e6)).noError(t)
	for role, first := range map[string]string{"judge": "judge round 1", "debugger": "debugger round 2, try 2", "": "judge round 1"} {
		p := play(t, large, largeData, tooLong(role, size(whole.model.requests[first])*2/3)).noError(t)
		for i, key := range p.cutOnce(t) {
			_, subject, _ := strings.Cut(key, " ")
			contains(t, p.Warnings[i], subject)
		}
		if p.model.refused[0] != first && role != "" || len(p.Rounds) != len(whole.Rounds) {
			t.Errorf("refused first: %s; %d rounds", p.model.refused[0], len(p.Rounds))
		}
		last := p.model.refused[len(p.model.refused)-1]
		for _, key := range p.model.asked[slices.Index(p.model.asked, last):] {
			if was, now := size(whole.model.requests[key]), size(p.model.requests[key]); now >= was {
				t.Errorf("%s has %d bytes, and without a limit %d", key, now, was)
			}
		}
		contains(t, p.model.prompt(t, last), "characters cut here", `"data/`)
	}
	// The roles that are shown one text get less of that, and so does the paper's way.
	report := "raise KeyError(\"" + strings.Repeat("many words ", 700) + "\")"
	play(t, simple.with(script{"cell": report, "summarizer": "KeyError",
		"debugger": "x = 1\nprint(x)"}), tooLong("summarizer", 6000)).noError(t).cutOnce(t)
	papers := published.with(script{"analyzer": long, "coder": long, "finalizer": long,
		"verifier": "No", "verifier round 3": "Yes", "router round 2": "Step 2",
		"coder round 2": large["cell round 2"], "debugger": long})
	play(t, papers, largeData, tooLong("", 12_000), asPublished).noError(t).cutOnce(t)
}

// TestOldestShortened: in a long conversation the oldest questions are shortened first, to question,
// steps, names and answer; the last one and the descriptions stay whole.
func TestOldestShortened(t *testing.T) {
	first := play(t, simple, largeData).noError(t)
	limit, all := size(first.model.requests["solver round 1"])+8000, of(simple, largeData)
	for n := 2; n < 10; n++ {
		cell := fmt.Sprintf("b = x\nb += %q\nprint(b)", strings.Repeat(fmt.Sprintf("printed %d ", n), 100))
		all = all.on(question(fmt.Sprintf("And %d?", n), ""), onward.with(script{"cell": cell, "last": "print(x)"}),
			largeData, tooLong("", limit))
	}
	last := all.play(t).model.prompt(t, "solver round 9")
	contains(t, last, "## Question 2: And 2?", "# It binds b.", strings.Repeat("printed 8 ", 100))
	lacks(t, last, "printed 2 ")
	lines := func(text string) int { return strings.Count(text, "0123456789 abcdef\n") }
	equal(t, "lines of descriptions", lines(last), lines(first.model.prompt(t, "solver round 1")))
}

// Where nothing is left to take away the refusal ends the run.
func TestTooLongForEver(t *testing.T) {
	for _, role := range []string{"solver", "judge", "second"} {
		p := play(t, simple, tooLong(role, 0))
		if !errors.Is(p.err, llm.ErrContextLength) || len(p.Warnings) != 1 || len(p.model.refused) > 20 {
			t.Errorf("error %v, refused %q, warnings %q", p.err, p.model.refused, p.Warnings)
		}
	}
}

// Where the model's context is known, requests fit into it from the start.
func TestContextIsKnown(t *testing.T) {
	const tokens, bytesPerToken = 8000, 3
	p := play(t, large.with(script{"cell round 2": long, "verdict round 3": no, "verdict round 6": yes,
		"last": "y = x\ny += \" 1\"\nprint(1)\ny"}), largeData, func(s *stage) {
		s.config.Context, s.config.ContextChars = tokens, 60_000
	}).noError(t)
	if len(p.Rounds) != 6 || !p.Verified() || len(p.Warnings) > 0 {
		t.Errorf("%d rounds, warnings %q", len(p.Rounds), p.Warnings)
	}
	for key, r := range p.model.requests {
		if size(r) >= tokens*bytesPerToken {
			t.Errorf("%s has %d bytes", key, size(r))
		}
	}
}

// All requests after the descriptions begin with the same bytes, the notebook grows at its end, and
// what a role is asked comes last: providers keep what requests have in common.
func TestPrefix(t *testing.T) {
	p := play(t, large.with(script{"verdict round 3": no, "verdict round 4": yes,
		"last": "y = x\nprint(1)\ny"}), largeData).noError(t)
	asks := regexp.MustCompile("\n```\n\n# (What is missing|Your task|A cell that failed)|\n\n# Your task")
	before := p.model.requests["solver round 1"].Messages
	for _, key := range p.model.asked[2 : len(p.model.asked)-1] {
		m := p.model.requests[key].Messages
		was, is := before[1].Text[:asks.FindStringIndex(before[1].Text)[0]], m[1].Text[:asks.FindStringIndex(m[1].Text)[0]]
		if len(m) != 2 || m[0] != before[0] || !strings.HasPrefix(is, was) && !strings.HasPrefix(was, is) {
			t.Errorf("%s does not begin like the request before:\n%s", key, m[1].Text)
		}
		if before = m; len(is) < 6000 || key == "judge round 4" && len(is) < 16_000 { // two steps of 4 kB each
			t.Errorf("the notebook does not grow, or stands behind the question: %d bytes", len(is))
		}
	}
}

// The coder is told how much memory there is, and on resuming the same, so that its request is as
// it was, unless there is much less.
func TestMemory(t *testing.T) {
	having := func(n int64) func(*stage) { return func(s *stage) { s.config.Memory = n } }
	for now, want := range map[int64]int64{7e9: 8e9, 1e9: 1e9, 0: 0} {
		again := of(simple, having(8e9)).on(nil, simple, having(now)).play(t)
		equal(t, fmt.Sprint("memory on resuming with ", now), again.Trajectory.Memory, want)
		said := play(t, simple, having(now)).model.requests["solver round 1"].Messages[0].Text
		equal(t, said, strings.Contains(said, fmt.Sprintf("%d.0 GB of memory", now/1e9)), now > 0)
	}
}

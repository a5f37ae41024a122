package agent_test

import (
	"testing"

	"dsstar/agent"
)

const unfit = "Form: does not fit\nProblem: two decimals are missing"

// The answer is held against the guidelines; one in a doubtful form is better than none.
func TestFormCheck(t *testing.T) {
	const problem, doubtful = "two decimals are missing", "perhaps not in the requested form"
	mended := script{"debugger": "y = x\nprint(y)"}
	for _, c := range []struct {
		name     string
		replies  script
		checks   []string // what the Checked events say
		attempts int
		warned   string
	}{
		{"fits", nil, []string{""}, 1, ""},
		{"fits when repaired", mended.with(script{"checker the answer": unfit}),
			[]string{problem, ""}, 2, ""},
		{"does not fit when repaired", mended.with(script{"checker": unfit}),
			[]string{problem, problem}, 2, doubtful},
		{"cannot be read", script{"checker": "Well."}, []string{""}, 1, "checker's reply"},
		{"after a repair that failed", script{"checker the answer": unfit,
			"debugger the answer, try 2": "die()", "debugger the answer, try 3": "print(x)"},
			[]string{problem, ""}, 3, ""},
		{"no repair runs", script{"checker": unfit, "debugger": "die()"}, []string{problem}, 4, doubtful},
		{"of the last try", script{"checker": unfit, "last": "die()",
			"debugger the answer, try 2": "die()", "debugger the answer, try 3": "print(x)"},
			[]string{problem}, 3, doubtful},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(c.replies)).noError(t)
			var checks []string
			for _, e := range p.events {
				if e.Kind == agent.Checked {
					checks = append(checks, e.Text)
				}
			}
			equal(t, "checks", checks, c.checks)
			if p.Answer() != "1" || !p.Verified() || len(p.Final.Attempts) != c.attempts {
				t.Errorf("answer %q, verified %v, %d attempts", p.Answer(), p.Verified(), len(p.Final.Attempts))
			}
			p.warned(t, c.warned)
			contains(t, p.model.prompt(t, "checker the answer"), "it printed\n\n```\n1\n```", "A number.")
			if c.attempts == 2 {
				contains(t, p.model.prompt(t, "debugger the answer, try 2"), problem)
			}
		})
	}
	p := play(t, simple.with(script{"checker": unfit}), func(s *stage) {
		s.task.Guidelines, s.config.DebugTries = "", 0
	}).noError(t)
	if p.warned(t, doubtful); p.Answer() != "1" || p.model.count("debugger") > 0 {
		t.Errorf("without repairs: answer %q, asked %q", p.Answer(), p.model.asked)
	}
	contains(t, p.model.prompt(t, "checker the answer"), "the form that the question asks for")
}

// A judge may find that the data hold no answer: then, and only then, the last cell may print a
// constant.
func TestInconclusive(t *testing.T) {
	replies := simple.with(script{"last": `print("Not Applicable")`, "debugger": "print(x)",
		"verdict": "Verdict: inconclusive\nReason: no shop is in Bremen"})
	p := play(t, replies).noError(t)
	if !p.Inconclusive() || !p.Sufficient() || !p.Verified() || p.Answer() != "Not Applicable" {
		t.Errorf("verdict %+v, answer %q, doubts %q", p.Rounds[0].Verdict, p.Answer(), p.Doubts())
	}
	contains(t, p.model.prompt(t, "finalizer the answer"), "no shop is in Bremen", "`Not Applicable`")
	for _, verdict := range []string{yes, no} {
		p = play(t, replies.with(script{"verdict": verdict}), func(s *stage) { s.config.MaxRounds = 1 })
		if p.Inconclusive() || p.Answer() != "1" || len(p.Final.Attempts) != 2 {
			t.Errorf("a constant after %q: %q, %d attempts", verdict, p.Answer(), len(p.Final.Attempts))
		}
	}
}

package agent_test

import (
	"testing"
)

// unfit is a run whose answer is not in the form of aNumber, repaired or not.
var unfit = simple.with(script{"cell": "y = \"1.23\"\nx = y\nx += \"4\"\nprint(x)",
	"debugger": "print(x)"})

// TestFormCheck: the answer is held against the guidelines by a program, and is repaired once; one
// in a doubtful form is better than none.
func TestFormCheck(t *testing.T) {
	const problem, doubtful = "its form asks for 2 decimals", "perhaps not in the requested form"
	for _, c := range []struct {
		name, repair string
		answer       string
		attempts     int
		warned       string
	}{
		{"fits when repaired", "print(y)", "1.23", 2, ""},
		{"does not fit when repaired", "print(x)", "1.234", 2, doubtful},
		{"no repair runs", "die()", "1.234", 4, doubtful},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, unfit.with(script{"debugger": c.repair})).noError(t)
			if p.Answer() != c.answer || !p.Verified() || len(p.Final.Attempts) != c.attempts {
				t.Errorf("answer %q, verified %v, %d attempts", p.Answer(), p.Verified(), len(p.Final.Attempts))
			}
			p.warned(t, c.warned)
			contains(t, p.model.prompt(t, "debugger the answer, try 2"), problem)
		})
	}
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
	for _, verdict := range []string{yes, no} {
		p = play(t, replies.with(script{"verdict": verdict}), func(s *stage) { s.config.MaxRounds = 1 })
		if p.Inconclusive() || p.Answer() != "1" || len(p.Final.Attempts) != 2 {
			t.Errorf("a constant after %q: %q, %d attempts", verdict, p.Answer(), len(p.Final.Attempts))
		}
	}
}

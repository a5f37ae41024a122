package agent_test

import (
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
)

const unfit = "Form: does not fit\nProblem: two decimals are missing"

// The answer is held against the guidelines; one in a doubtful form is better
// than none.
func TestFormCheck(t *testing.T) {
	mended := script{"debugger": "y = x\nprint(y)"}
	cases := []struct {
		name     string
		replies  script
		checks   []string // what the Checked events say
		attempts int
		warned   string
	}{
		{"fits", script{}, []string{""}, 1, ""},
		{"fits when repaired", mended.with(script{"checker the answer": unfit}), []string{"two decimals are missing", ""}, 2, ""},
		{"does not fit when repaired", mended.with(script{"checker": unfit}),
			[]string{"two decimals are missing", "two decimals are missing"}, 2, "the answer is perhaps not in the requested form: two decimals"},
		{"cannot be read", script{"checker": "Well."}, []string{""}, 1, "checker's reply"},
		{"after a repair that failed", script{"checker the answer": unfit, "debugger the answer, try 2": "die()", "debugger the answer, try 3": "print(x)"},
			[]string{"two decimals are missing", ""}, 3, ""},
		{"no repair runs", script{"checker": unfit, "debugger": "die()"}, []string{"two decimals are missing"}, 4, "the answer is perhaps not in the requested form"},
		{"of the last try", script{"checker": unfit, "finalizer": "die()", "debugger the answer, try 2": "die()", "debugger the answer, try 3": "print(x)"},
			[]string{"two decimals are missing"}, 3, "the answer is perhaps not in the requested form"},
	}
	for _, c := range cases {
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
			if warned := strings.Join(p.Warnings, "\n"); !strings.Contains(warned, c.warned) || (warned == "") != (c.warned == "") {
				t.Errorf("warnings %q, want %q", p.Warnings, c.warned)
			}
			equal(t, "what the checker sees", strings.Contains(p.model.prompt(t, "checker the answer"), "# The answer that it printed\n\n```\n1\n```"), true)
			if c.attempts == 2 {
				contains(t, p.model.prompt(t, "debugger the answer, try 2"), "two decimals are missing")
			}
		})
	}
	t.Run("no guidelines", func(t *testing.T) {
		p := play(t, simple, func(s *stage) { s.task.Guidelines = "" }).noError(t)
		contains(t, p.model.prompt(t, "checker the answer"), "the form that the question asks for", "## Step 1: Do the next thing.")
	})
	t.Run("no repairs", func(t *testing.T) {
		p := play(t, simple.with(script{"checker": unfit}), func(s *stage) { s.config.DebugTries = 0 }).noError(t)
		if p.Answer() != "1" || len(p.Warnings) != 1 || p.model.count("debugger") > 0 {
			t.Errorf("answer %q, warnings %q, asked %q", p.Answer(), p.Warnings, p.model.asked)
		}
	})
}

// A judge may find that the data hold no answer: then, and only then, the last
// cell may print a constant.
func TestInconclusive(t *testing.T) {
	replies := simple.with(script{"verifier": "Verdict: inconclusive\nReason: no shop of the table is in Bremen", "finalizer": `print("Not Applicable")`})
	p := play(t, replies).noError(t)
	if !p.Inconclusive() || !p.Sufficient() || !p.Verified() || p.Answer() != "Not Applicable" || len(p.Rounds) != 1 {
		t.Errorf("inconclusive %v, sufficient %v, answer %q after %d rounds", p.Inconclusive(), p.Sufficient(), p.Answer(), len(p.Rounds))
	}
	contains(t, p.model.prompt(t, "finalizer the answer"), "the data hold no answer to the question, and says:\n\n```\nno shop of the table is in Bremen\n```", "print `Not Applicable`")
	data, err := record.Draw(p.Trajectory).Encode()
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(data), `"inconclusive": true`, "**Round 1: ✔ inconclusive")

	p = play(t, replies.with(script{"verifier": yes, "debugger": "print(x)"})).noError(t)
	if p.Inconclusive() || p.Answer() != "1" || len(p.Final.Attempts) != 2 {
		t.Errorf("a constant after a sufficient verdict: answer %q, %d attempts", p.Answer(), len(p.Final.Attempts))
	}
	p = play(t, replies.with(script{"verifier": no, "debugger": "print(x)"}), func(s *stage) { s.config.MaxRounds = 1 }).noError(t)
	if p.Inconclusive() || p.Answer() != "1" {
		t.Errorf("a constant after an insufficient verdict: answer %q", p.Answer())
	}
}

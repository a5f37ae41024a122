package agent_test

import (
	"strconv"
	"strings"
	"testing"
)

// unfit is a run whose answer is not in the form of aNumber, repaired or not.
var unfit = simple.with(script{"cell": "y = \"1.23\"\nx = y\nx += \"4\"\nprint(x)",
	"debugger": "print(x)"})

// TestFormCheck: the answer is held against the guidelines by a program, and is repaired once; one
// in another form is better than none, but not verified.
func TestFormCheck(t *testing.T) {
	const problem = "its form asks for 2 decimals"
	for _, c := range []struct {
		name, repair string
		answer       string
		attempts     int
		doubt        string
	}{
		{"fits when repaired", "print(y)", "1.23", 2, ""},
		{"does not fit when repaired", "print(x)", "1.234", 2, problem},
		{"no repair runs", "die()", "1.234", 4, problem},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, unfit.with(script{"debugger": c.repair})).noError(t)
			if p.Answer() != c.answer || p.Verified() != (c.doubt == "") || len(p.Final.Attempts) != c.attempts {
				t.Errorf("answer %q, verified %v, %d attempts", p.Answer(), p.Verified(), len(p.Final.Attempts))
			}
			contains(t, strings.Join(p.Doubts(), "\n"), c.doubt)
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

// TestUnfit: an answer in another form than is asked for is not verified, nor is one that is none,
// nor one whose sentences say another number, whoever agrees.
func TestUnfit(t *testing.T) {
	const q = "What is the value?"
	for _, c := range []struct{ question, form, answer, summary, doubt string }{
		{q, "two decimals", "12.457", "", "2 decimals"},
		{q, "a single integer", "The value is about forty", "", "has none"},
		{q, "a number between 0 and 1", "45%", "", "between 0 and 1"},
		{q, "a number between 0 and 1", "0.45", "", ""},
		{"Save it as counts.csv.", "", "counts.csv", "", "counts.csv"},
		// these are no answers
		{q, "", "nan", "", "no answer"},
		{q, "", "Mean: nan", "", "no answer"},
		{q, "", "@mean[nan]", "", "no answer"},
		{q, "", "np.float64(nan)", "", "no answer"},
		{q, "", "-inf", "", "no answer"},
		{q, "", "None", "", "no answer"},
		{q, "", "NaT", "", "no answer"},
		{q, "", "Empty DataFrame\nColumns: [a]\nIndex: []", "", "no answer"},
		{q, "", "Series([], dtype: int64)", "", "no answer"},
		{q, "", "nan, NaN", "", "no answer"},
		{q, "", "nan kg", "", "no answer"},
		{q, "", "null", "", "no answer"},
		{q, "", "Index([], dtype='object')", "", "no answer"},
		{q, "", "<generator object f at 0x7f12>", "", "no answer"},
		{q, "", "[]", "", ""},
		{q, "a number, or None if there is none", "None", "", ""},
		{q, "", "Nantes", "", ""},
		{q, "", "North, nan, 5", "", ""},
		// the sentences
		{q, "", "11963.04", "It is 1.00 euros, by 200 orders.", "summary"},
		{q, "", "11963.04", "It rests on 200 orders.", ""},
		{q, "", "11963.04", "It is 11,963.0 euros, by 200 orders.", ""},
		{q, "", "North", "It is North, with 40 orders.", ""},
	} {
		t.Run(c.form+" "+c.answer, func(t *testing.T) {
			last := "print(x)\ny"
			p := play(t, simple.with(script{"cell": "x = " + strconv.Quote(c.answer) + "\ny = " +
				strconv.Quote(c.summary) + "\nsave(other.csv, x)\nprint(200)", "last": last, "debugger": last,
				"arbiter": "Ruling: same\nReason: a word"}), func(s *stage) {
				s.quick, s.task.Question, s.task.Guidelines = true, c.question, c.form
			}).noError(t)
			if p.Answer() != c.answer || p.Verified() != (c.doubt == "") {
				t.Errorf("answer %q, doubts %q", p.Answer(), p.Doubts())
			}
			if said := strings.Contains(c.summary, c.answer[:2]); (p.Summary() != "") != said {
				t.Errorf("the summary of %s is %q", p.Answer(), p.Summary())
			}
			contains(t, strings.Join(p.Doubts(), "\n"), c.doubt)
		})
	}
}

// TestNoAnswer: where the data hold no answer, nothing else is one.
func TestNoAnswer(t *testing.T) {
	for answer, verified := range map[string]bool{"Not Applicable": true, "no data": true, "0": false,
		"182 orders": false, "so none": true, "nan": true} {
		p := play(t, simple.with(script{"last": "print(" + strconv.Quote(answer) + ")",
			"debugger": "print(" + strconv.Quote(answer) + ")",
			"verdict":  "Verdict: inconclusive\nReason: no shop is in Bremen"}), func(s *stage) {
			s.quick, s.task.Guidelines = true, `A number, or "so none".`
		}).noError(t)
		if p.Answer() != answer || p.Verified() != verified {
			t.Errorf("%s: answer %q, doubts %q", answer, p.Answer(), p.Doubts())
		}
	}
}

package agent_test

import (
	"strconv"
	"strings"
	"testing"
)

// unfit is a run whose answer is not in the form of aNumber, repaired or not.
var unfit = simple.with(script{"cell": "y = \"1.23\"\nx = y\nx += \"4\"\nprint(x)",
	"debugger": "print(x)"})

// TestUnfit: an answer in another form than is asked for is not verified, nor is one that is none,
// nor one whose sentences say another number, whoever agrees.
func TestUnfit(t *testing.T) {
	const q = "What is the value?"
	for _, c := range []struct{ question, form, answer, summary, doubt string }{
		{q, "two decimals", "12.457", "", "2 decimals"},
		{"Save it as counts.csv.", "", "counts.csv", "", "counts.csv"},
		// these are no answers
		{q, "", "nan", "", "no answer"},
		{q, "", "None", "", "no answer"},
		{q, "", "Empty DataFrame\nColumns: [a]\nIndex: []", "", "no answer"},
		{q, "", "<generator object f at 0x7f12>", "", "no answer"},
		{q, "", "[]", "", ""},
		{q, "a number, or None if there is none", "None", "", ""},
		{q, "", "North, nan, 5", "", ""},
		// the sentences
		{q, "", "11963.04", "It is 1.00 euros, by 200 orders.", "summary"},
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

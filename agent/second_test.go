package agent_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
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

// TestRulings: a difference is settled by the data; what stays open is told.
func TestRulings(t *testing.T) {
	first := "Ruling: first\nReason: it counts twice\nWrong step: "
	for _, c := range []struct {
		name             string
		replies          script
		answer, standing string
		plan             []int
		arbiter          int
		doubt            string
	}{
		{"same", script{"second": "z = \"one\"\nz", "arbiter": "Ruling: same\nReason: a word"}, "1",
			"verified", []int{0}, 1, ""},
		{"same, which it cannot be", script{"arbiter": "Ruling: same\nReason: both are counts"}, "1",
			"not verified", []int{0}, 1, "gave another answer, 2"},
		{"a wrong step", script{"arbiter two answers": first + "1"}, "2", "verified", []int{1}, 1, ""},
		{"a wrong last cell", script{"arbiter two answers": first + "0"}, "2", "verified", []int{0, 1}, 1,
			""},
		{"a wrong step, and still another answer", script{"arbiter two answers": first + "1",
			"cell round 2": "x = 3\nprint(x)", "arbiter two answers, again 1": "Ruling: undecided"},
			"3", "not verified", []int{1}, 2, "gave another answer, 2"},
		{"a mistake of the second", corrected("z = 1\nz"), "1", "verified", []int{0}, 1, ""},
		{"a correction that fails at first", corrected("die()").with(script{
			"debugger second derivation, again 1, try 2": "agreed()"}), "1", "verified", []int{0}, 1, ""},
		{"two mistakes of the second", corrected("z = 3\nz"), "1", "not verified",
			[]int{0}, 2, "still differ after two corrections"},
		{"a reading", script{"arbiter": "Ruling: reading\nReason: both can be meant\n" +
			"Reading: Which count.\nOption 1: all\nOption 2: some"}, "1", "depends on a reading", []int{0},
			1, "depends on a reading: Which count."},
		{"undecided", script{"arbiter": "Ruling: undecided\nReason: who knows"}, "1", "not verified",
			[]int{0}, 1, "who knows"},
		{"unreadable", script{"arbiter": "Hm."}, "1", "not verified", []int{0}, 2, "arbiter's reply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, another.with(c.replies)).noError(t)
			if p.Answer() != c.answer || p.Standing() != c.standing ||
				p.model.count("second") != 1+len(p.Second.Mistakes()) {
				t.Errorf("answer %q, %s: %q; asked %q", p.Answer(), p.Standing(), p.Doubts(), p.model.asked)
			}
			equal(t, "plan", p.Plan(), c.plan)
			if n := p.model.count("arbiter"); n != c.arbiter {
				t.Errorf("the arbiter was asked %d times", n)
			}
			contains(t, strings.Join(p.Doubts(), "\n"), c.doubt)
			nb := record.Draw(p.Trajectory)
			for _, ruled := range p.Second.Rejected {
				contains(t, nb.Cells[cellOf(t, nb, "second")].Source, "the steps gave "+ruled.First+", and it gave "+ruled.Second)
			}
		})
	}
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
	nb := record.Draw(p.Trajectory)
	contains(t, nb.Cells[cellOf(t, nb, "second")].Source, "12345", "678", "leaves rows out", "told what was found wrong")
	lacks(t, p.model.prompt(t, "second the answer"), "mistake")
}

// TestNoSecondAnswer: what nobody has derived twice is not verified, for a reason that is told.
func TestNoSecondAnswer(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies script
		change  func(*stage)
		doubt   string
	}{
		{"no cell runs", script{"second": "die()", "debugger": "die()"}, nil, "the kernel died"},
		{"nothing is printed", script{"second": "z = 1", "debugger": "z = 1"}, nil, "gave no answer"},
		{"no code", script{"second": "raw:No."}, nil, "second's reply"},
		{"it is typed in", script{"second": "# typed in\nz = 1\nz", "debugger": "# typed in\nz = 1\nz"}, nil,
			"gave no answer: it is typed in"},
		{"it is a copy", script{"second": "# a copy\nz = 1\nz"}, nil, "it is a copy"},
		{"no session", nil, refuses(errors.New("no room")), "no room"},
		{"no session apart, and going back is off", nil, func(s *stage) {
			refuses(errors.ErrUnsupported)(s)
			s.world.ways = []notebook.Restoration{{Way: notebook.NotAtAll}}
		}, "going back is off"},
		{"it is left out", nil, func(s *stage) { s.config.Method.NoSecond = true }, "derived only once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := func(s *stage) {
				if c.change != nil {
					c.change(s)
				}
			}
			p := play(t, simple.with(c.replies), change).noError(t)
			if p.Answer() != "1" || p.Standing() != "not verified" || !p.Proof.Same {
				t.Errorf("answer %q, %s", p.Answer(), p.Standing())
			}
			contains(t, strings.Join(p.Doubts(), "\n"), c.doubt)
		})
	}
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

// TestWordsAndFiles: an answer of values and a file is the same if all of it is, and is shown by
// its words.
func TestWordsAndFiles(t *testing.T) {
	for _, c := range []struct{ question, first, file, second, other, standing string }{
		{"Save it as out.csv. How many?", "5, out.csv", "x,1", "out.csv, 5", "x,1", "verified"},
		{"Save it as out.csv. How many?", "5, out.csv", "x,1", "5", "x,1.0", "verified"},
		{"Save it as out.csv. How many?", "5, out.csv", "x,1", "3, out.csv", "x,1", "not verified"},
		{"Save it as out.csv. How many?", "5, out.csv", "x,1", "5, out.csv", "x,2", "not verified"},
		{"How many?", "5 (other.csv)", "x,1", "3 (other.csv)", "x,1", "not verified"},
		{"How many of what you saved as out.csv?", "5", "x,1", "3", "x,1", "not verified"},
		{"How many of what you saved as out.csv?", "5", "x,1", "5", "x,1", "verified"},
	} {
		name := "out.csv"
		if strings.Contains(c.first, "other.csv") {
			name = "other.csv"
		}
		for _, role := range []string{"second", "branches"} {
			replies := script{"cell": "x = \"" + c.file + "\"\nsave(" + name + ", x)\nprint(x)",
				"last": "y = x\nprint(\"" + c.first + "\")", "arbiter": "Ruling: undecided"}
			other := "z = \"" + c.other + "\"\nsave(" + name + ", z)\na = \"" + c.second + "\"\na"
			replies[role] = other
			if role == "branches" {
				replies[role], replies["verdict"] = branches(other), yes+"\nTakes: 1"
				replies["second"] = "z = \"" + c.file + "\"\nsave(" + name + ", z)\na = \"" + c.first + "\"\na"
				replies["solver round 1"] = strings.Replace(reads(isOpen), "x = 1\n", replies["cell"]+"\n", 1)
			}
			p := play(t, simple.with(replies), func(s *stage) { s.task.Question = c.question }).noError(t)
			want := c.standing
			if role == "branches" {
				want = strings.Replace(want, "not verified", "depends on a reading", 1)
			}
			if p.Standing() != want || p.Answer() != c.first {
				t.Errorf("%s, %q, %s %q with %q: answer %q, %s: %q", c.question, c.first, role, c.second, c.other,
					p.Answer(), p.Standing(), p.Doubts())
			}
			if role == "second" && p.Second.Answer != c.second {
				t.Errorf("%q is the second's answer, not its words %q", p.Second.Answer, c.second)
			}
		}
	}
}

// TestFilesAreCompared: answers that are names of files are compared by what is in them, whether
// the question names the file or not, and if there is a data file of that name.
func TestFilesAreCompared(t *testing.T) {
	for question, name := range map[string]string{"Enter it into the provided a.csv.": "a.csv",
		"Save it as out.csv.": "out.csv", "How many?": "my own.csv"} {
		for value, standing := range map[string]string{"1": "verified", "2": "not verified"} {
			p := play(t, simple.with(script{"cell": "x = 1\nsave(" + name + ", x)\nprint(x)",
				"last":    "y = x\nprint(\"" + name + "\")",
				"second":  "z = " + value + "\nsave(" + name + ", z)\na = \"" + name + "\"\na",
				"arbiter": "Ruling: undecided"}), func(s *stage) { s.task.Question = question }).noError(t)
			if p.Standing() != standing || p.Answer() != name {
				t.Errorf("%s, second %s: answer %q, %s: %q", question, value, p.Answer(), p.Standing(),
					p.Doubts())
			}
		}
	}
}

// TestToldFiles: what only the session can say of a file decides, and an arbiter cannot overrule
// it.
func TestToldFiles(t *testing.T) {
	for _, c := range []struct{ name, first, second, ruling, standing string }{
		{"out.png", `a|{"bars": [{"at": "N", "value": 1}]}`, `b|{"bars": [{"at": "N", "value": 1}]}`, "", "verified"},
		{"out.png", `a|{"bars": [{"at": "N", "value": 1}]}`, `b|{"bars": [{"at": "N", "value": 2}]}`, "same", "not verified"},
		{"out.png", "a|{}", "a|{}", "same", "not verified"},
		{"out.png", "a", "b", "same", "verified"},
		{"out.xlsx", `a|[{"s": "N", "n": 1}, {"s": "S", "n": 2}]`, `b|[{"s": "S", "n": 2}, {"s": "N", "n": 1}]`, "", "verified"},
		{"out.xlsx", `a|[{"n": 1}]`, `b|[{"n": 2}]`, "same", "not verified"},
		{"out.html", "a1", "a2", "same", "verified"},
	} {
		cell := func(content string) string { return "z = " + strconv.Quote(content) + "\nsave(" + c.name + ", z)\n" }
		p := play(t, simple.with(script{"cell": cell(c.first) + "x = 1\nprint(x)", "last": "x\nprint(\"" + c.name + "\")",
			"second": cell(c.second) + "a = \"" + c.name + "\"\na", "arbiter": "Ruling: same\nReason: so it is"}),
			func(s *stage) { s.task.Question = "Save it as " + c.name + "." }).noError(t)
		if p.Standing() != c.standing || (p.model.count("arbiter") > 0) != (c.ruling != "") {
			t.Errorf("%s, %q and %q: %s: %q; asked %q", c.name, c.first, c.second, p.Standing(), p.Doubts(), p.model.asked)
		}
	}
}

// refuses has the session of the second derivation fail to open.
func refuses(err error) func(*stage) {
	return func(s *stage) {
		s.world.open = func(_ context.Context, p agent.Purpose) error {
			if p == agent.Second {
				return err
			}
			return nil
		}
	}
}

// TestSecondIsApart: it runs on what the set-up leaves, in a session of its own if there can be
// one, and nothing of it stays. A run without such a session derives again when it goes on.
func TestSecondIsApart(t *testing.T) {
	replies := three.with(script{"second": "x = 123\nx"})
	for _, refusal := range []error{nil, errors.ErrUnsupported, errors.New("no room")} {
		p := play(t, replies, refuses(refusal)).noError(t)
		together := refusal == errors.ErrUnsupported
		if refusal != nil && !together {
			p = goOn(t, replies, p.Trajectory).noError(t)
		}
		var begins []string // the first cells of its session, whose data folder has its whole path
		if together {
			rolled := p.world.of(agent.Work)[0].rolled
			begins = rolled[len(rolled)-2]
			equal(t, "the session goes back to", rolled[len(rolled)-1], p.Cells())
		} else {
			begins = p.world.of(agent.Second)[0].rolled[0]
			equal(t, "times that the run's session went back", len(p.world.of(agent.Work)[0].rolled), 0)
		}
		equal(t, "it begins with", begins, p.Cells()[:2])
		if !p.Verified() || strings.Contains(strings.Join(p.Cells(), "\n"), "x = 123") {
			t.Errorf("%q, cells %q", p.Doubts(), p.Cells())
		}
		s := p.Second
		if len(s.Attempts) != 1 || s.Answer != "123" || s.Ruling != "" || s.Together != together {
			t.Errorf("%+v", s)
		}
		nb := record.Draw(p.Trajectory)
		for _, c := range nb.Cells {
			if c.Type == notebook.Code {
				lacks(t, c.Source, "x = 123")
			}
		}
		shown := nb.Cells[cellOf(t, nb, "second")].Source
		s.Together = !together
		if nb = record.Draw(p.Trajectory); nb.Cells[cellOf(t, nb, "second")].Source == shown {
			t.Errorf("together or not, the notebook says: %s", shown)
		}
	}
}

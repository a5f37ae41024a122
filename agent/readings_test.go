package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// reads is the first reply of a solver, with readings that end with what is said of them.
func reads(said ...string) string {
	var b strings.Builder
	for i, s := range said {
		fmt.Fprintf(&b, "Reading: Which of %d count.\nOption 1: all\nOption 2: some\nTaken: 1\n%s\n\n",
			i+1, s)
	}
	return b.String() + "Step: Count.\n\n```python\nx = 1\nprint(x)\n```"
}

// branches is the reply with a cell for option 2 of each reading.
func branches(cells ...string) string {
	var b strings.Builder
	for i, code := range cells {
		fmt.Fprintf(&b, "Branch %d.2\nKeeps: %d\n\n```python\n%s\n```\n\n", i+1, i, code)
	}
	return b.String()
}

const (
	judged    = "Verdict: sufficient\nReason: it is\n\n```python\ny = x\nprint(y)\ny\n```\n\n"
	isOpen    = "Evidence: none\nSettled: no"
	isSettled = "Evidence: \"a value, at most 2 decimals\" (form)\nSettled: yes"
)

// taken is the reply with a cell for the option of the first reading that the cells are said to
// take.
func taken(code string) string { return "Branch 1.1\nKeeps: 1\n\n```python\n" + code + "\n```" }

// unread is reads with a reading that does not say which option is taken.
var unread = strings.Replace(reads(isOpen), "Taken: 1\n", "", 1)

// TestReadings: only a reading that changes the answer is spoken of.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		name     string
		solver   string
		replies  script
		standing string
		asked    int    // how often the branches were
		others   string // answers under readings that matter
	}{
		{"settled", reads(isSettled), script{"verdict": yes + "\nTakes: 1\nDecided: 1"}, "verified", 0, ""},
		{"settled, which changes the answer", reads(isSettled), script{"judge round 1": strings.Replace(judged,
			"\n\n", "\nTakes: 1\nDecided: 1\n\n", 1) + branches("z = 2\nz")}, "verified", 0, ""},
		{"settled by words of the question, says the solver alone", reads(isSettled),
			script{"branches": branches("z = 2\nz")}, "depends on a reading", 1, "2"},
		{"settled, which the judge does not find", reads(isSettled),
			script{"branches": branches("z = 2\nz"), "verdict": yes + "\nTakes: 1\nDecided: none"},
			"depends on a reading", 1, "2"},
		{"settled by dsstar's words", reads("Evidence: \"All files are in the folder\"\nSettled: yes"),
			script{"branches": branches("z = 2\nz")}, "depends on a reading", 1, "2"},
		{"settled by a profile", reads("Evidence: \"a table of 200 rows\" (a.csv)\nSettled: yes"),
			script{"branches": branches("z = 2\nz"), "analyzer": "print(\"a table of 200 rows\")"},
			"depends on a reading", 1, "2"},
		{"the same answer", reads(isOpen), script{"branches": branches("z = 1\nz"),
			"verdict": yes + "\nTakes: 1"}, "verified", 1, ""},
		{"the same answer, and the cells take the option", reads(isOpen), script{"branches": branches("z = 1\nz"),
			"branches the readings, what is in doubt": taken("w = 1\nw")}, "verified", 2, ""},
		{"the same answer, which is that of the cells", reads(isOpen), script{"branches": branches("z = 1\nz"),
			"branches the readings, what is in doubt": taken("w = 2\nw")}, "depends on a reading", 2, "2"},
		{"the same answer, says the judge", reads(isOpen), script{"branches": branches("z = 1\nz"),
			"branches the readings, what is in doubt": taken("w = 2\nw"), "verdict": yes + "\nTakes: 2"},
			"depends on a reading", 2, "2"},
		{"the same answer, and nothing shows what the cells take", reads(isOpen),
			script{"branches": branches("z = 1\nz")}, "depends on a reading", 3, "wrote no cell"},
		{"settled, and the cells take the other", reads(isSettled), script{"branches": taken("w = 2\nw"),
			"judge round 1": strings.Replace(judged, "\n\n", "\nTakes: 2\nDecided: 1\n\n", 1) + branches("z = 1\nz")},
			"depends on a reading", 1, "2"},
		{"two, which together change the answer", reads(isOpen, isOpen), script{
			"verdict": yes + "\nTakes: 1, 1", "branches": branches("z = 1\nz", "z = 1\nz"),
			"branches the readings, what is in doubt": "Branch 3.2\nKeeps: 0\n\n```python\nz = 3\nz\n```"},
			"depends on a reading", 2, "3"},
		{"two, which change nothing together", reads(isOpen, isOpen), script{
			"verdict": yes + "\nTakes: 1, 1", "branches": branches("z = 1\nz", "z = 1\nz"),
			"branches the readings, what is in doubt": "Branch 3.2\nKeeps: 0\n\n```python\nz = 1\nz\n```"},
			"verified", 2, ""},
		{"never runs", reads(isOpen), script{"branches": branches("die()"), "debugger": "die()"},
			"depends on a reading", 1, "the kernel died"},
		{"typed in", reads(isOpen), script{"branches": branches("# typed in\nz = 1\nz"),
			"debugger": "# typed in\nz = 1\nz"}, "depends on a reading", 1, "it is typed in"},
		{"a constant that no row has", reads(isOpen), script{"branches": branches("# with pandas\nz = 1\nz"),
			"debugger": "# with pandas\nz = 1\nz"}, "depends on a reading", 1, `no row has "Paid"; rows have "paid"`},
		{"left out", reads(isOpen, isOpen), script{"branches": branches("z = 1\nz")},
			"depends on a reading", 1, "the model wrote no cell for it"},
		{"with the verdict", reads(isOpen), script{"judge round 1": judged + branches("z = 2\nz")},
			"depends on a reading", 0, "2"},
		{"one with the verdict", reads(isOpen, isOpen),
			script{"judge round 1": judged + branches("z = 1\nz"),
				"branches": "Branch 2.2\nKeeps: 1\n\n```python\nx += 2\nx\n```"},
			"depends on a reading", 1, "12"},
		{"one that cannot be read", unread, script{"solver round 1, asked again": reads(isOpen),
			"branches": branches("z = 2\nz")}, "depends on a reading", 1, "2"},
		{"one that cannot be read, and then no reply can", unread,
			script{"solver round 1, asked again": "Hm."}, "depends on a reading", 0, ""},
		{"the second derivation takes the other", reads(isOpen),
			script{"branches": branches("z = 2\nz"), "second": "z = 2\nz"}, "depends on a reading", 1, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(c.replies).with(script{"solver round 1": c.solver})).noError(t)
			if p.Answer() != "1" || p.Standing() != c.standing {
				t.Errorf("answer %q, %s: %q", p.Answer(), p.Standing(), p.Doubts())
			}
			if n := p.model.count("branches"); n != c.asked || p.model.count("arbiter") > 0 {
				t.Errorf("asked %q", p.model.asked)
			}
			var others []string
			for _, r := range p.OpenReadings() {
				for _, o := range r.Options {
					if text := o.Answer + o.Problem; text != "" {
						others = append(others, text)
					}
				}
			}
			if got := strings.Join(others, "; "); !strings.Contains(got, c.others) || (got == "") != (c.others == "") {
				t.Errorf("other answers: %s", got)
			}
		})
	}
	p := play(t, simple, func(s *stage) { s.config.Method.NoReadings = true }).noError(t)
	lacks(t, p.model.prompt(t, "solver round 1"), "leave open what is meant")
}

// TestBranchesKeepSteps: a branch runs on the steps that it keeps, and on no others.
func TestBranchesKeepSteps(t *testing.T) {
	p := play(t, simple.with(script{"solver round 1": reads(isOpen, isOpen), "verdict round 1": no,
		"cell round 2": "x += 2\nprint(x)", "branches": branches("z = 12\nz", "x += 3\nx")})).noError(t)
	if len(p.OpenReadings()) != 1 || p.Readings[1].Options[1].Answer != "13" {
		t.Errorf("%+v", p.Readings)
	}
	var begun [][]string
	for _, cells := range p.world.of(agent.Work)[0].rolled {
		begun = append(begun, cells[2:])
	}
	for _, want := range [][]string{{}, {"x = 1\nprint(x)"}} {
		if !slices.ContainsFunc(begun, func(cells []string) bool { return slices.Equal(cells, want) }) {
			t.Errorf("no branch began with %q, but %q", want, begun)
		}
	}
	contains(t, p.model.prompt(t, "solver round 2"), "Which of 1 count.\n  Taken: all")
	contains(t, p.model.prompt(t, "branches the readings"), "Branch 1.2: some", "Branch 2.2: some",
		"Taken: all")
}

// TestReadingsOfNewPlan: a new first step names its readings, as the judge may have dropped the old
// one for what it took.
func TestReadingsOfNewPlan(t *testing.T) {
	p := play(t, simple.with(script{"solver round 1": reads(isOpen), "verdict round 1": bad,
		"wrong round 1": "1", "solver round 2": reads(isOpen, isSettled),
		"verdict round 2": yes + "\nTakes: 1, 1\nDecided: 2", "branches": branches("z = 1\nz", "z = 2\nz")})).noError(t)
	if len(p.Readings) != 2 || !p.Verified() {
		t.Errorf("%+v, %q", p.Readings, p.Doubts())
	}
	request := p.model.prompt(t, "solver round 2")
	contains(t, request, "leave open what is meant", "the total is wrong")
	lacks(t, request, "Readings that were taken")
}

// TestHostAfterBranches: somebody else's session is left at the accepted cells, with nothing of a
// branch.
func TestHostAfterBranches(t *testing.T) {
	p := play(t, simple.with(script{"solver round 1": reads(isOpen), "second": "w = 3\nagreed()",
		"branches": branches("z = 2\nz")}), hosted).noError(t)
	work := p.world.of(agent.Work)[0]
	equal(t, "the last state", work.rolled[len(work.rolled)-1], p.Cells()[:len(p.Cells())-1])
	for _, name := range []string{"w", "z"} {
		if value, left := work.vars[name]; left {
			t.Errorf("%s = %s is left of a branch", name, value)
		}
	}
	if p.OpenReadings()[0].Options[1].Answer != "2" || !p.Second.Agrees {
		t.Errorf("%+v, %+v", p.Readings, p.Second)
	}
}

// TestGroundedAgain: what settled a point is looked for again once files or notes are other ones.
func TestGroundedAgain(t *testing.T) {
	const rule, mind = "Cancelled orders do not count in the revenue.", "Mind the orders of all stores."
	data := func(rule string) func(*stage) {
		content := map[string]string{"a.csv": "1" + rule, "rules.md": rule}
		known := map[string]profile.Profile{"a.csv": table(9, "a"), "rules.md": {Format: "text", Document: rule, Whole: true}}
		if rule == "" {
			delete(content, "rules.md")
		}
		return func(s *stage) {
			withData(t, content)(s)
			profiled(known)(s)
			if s.resume != nil {
				s.resume.Task.Data = s.task.Data
			}
		}
	}
	for _, c := range []struct {
		name     string
		rule     string                             // that stands in the file afterwards
		edit     func(reporter, *notebook.Notebook) // where a note has settled the point
		standing string
	}{
		{"other data", rule + " So it is.", nil, "verified"},
		{"another rule", "Cancelled orders do count in the revenue.", nil, "depends on a reading"},
		{"no file", "", nil, "depends on a reading"},
		{"another note", rule, insert("data", note("Mind.")), "verified"},
		{"no note", rule, remove("note-1"), "depends on a reading"},
	} {
		t.Run(c.name, func(t *testing.T) {
			replies := simple.with(script{"solver round 1": reads("Evidence: \"" + rule + "\"\nSettled: yes"),
				"verdict": yes + "\nTakes: 1\nDecided: 1", "branches": branches("z = 2\nz")})
			tr := play(t, replies, data(rule)).noError(t).Trajectory
			if tr.Standing() != "verified" {
				t.Fatalf("%s: %q", tr.Standing(), tr.Doubts())
			}
			if c.edit != nil {
				tr.AddNote(mind)
				tr.Readings[0].Evidence, tr.Readings[0].From = "“"+mind+"” (note)", record.FromNote
				tr = must(edited(t, tr, c.edit))
			}
			if p := goOn(t, replies, readAgain(t, tr), data(c.rule)).noError(t); p.Standing() != c.standing {
				t.Errorf("%s: %q", p.Standing(), p.Doubts())
			}
		})
	}
}

package agent_test

import (
	"fmt"
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

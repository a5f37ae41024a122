package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"dsstar/agent"
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

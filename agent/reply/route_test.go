package reply

import (
	"strings"
	"testing"

	"dsstar/agent/record"
)

// Of a plan of three steps.
func TestParseRoute(t *testing.T) {
	for n, replies := range [][]string{
		{
			"**Add Step**", "add a new step.", "ADD_STEP", "`AddStep`", "Decision: Add Step",
			"```\nAdd Step\n```", "✅ Add Step", `{"route": "Add Step"}`,
			"Option: Add a new step", "<think>Step 2?</think>\nAdd Step",
			"Add Step\n\nStep 2 is right; what lacks is the mean.",
			"Step 1 loads a.csv.\nStep 2 counts.\nBoth are right.\n\nAdd Step",
			"A step 4 could compute the mean.\n\nAdd Step", "Add Step 4",
			"Add step 4: compute the mean of what step 2 counts.",
		},
		2: {
			"step 2.", "**Step 2**", "Step #2", "2", "(2)", "My answer is: Step 2",
			"Step 2 is wrong.", "**Step 2** is wrong",
			"Step 2 is wrong because it does not filter.", "Step 2\n\nStep 2", "Fix Step 2",
			"Step 1 is right. The join is not.\n\nStep 2", "Go back to Step 2",
			`{"route": "Step 2", "reason": "its filter is not right"}`, `{"step": 2}`,
			"| Route | Step 2 |",
		},
	} {
		for _, reply := range replies {
			read(t, Route(3), reading[record.Route]{reply, record.Route{Back: n}, ""})
		}
	}
	for problem, replies := range map[string][]string{
		"empty":   {""},
		"refusal": {"I'm sorry, but I can't help with that."},
		"no choice": {"I cannot decide that.", "Step 2 is right.", "Step 2 is not wrong.",
			"No further steps are needed; the plan is sufficient.", "Do not add a step.", "Step -1",
			"Step 1.5", "Is step 2 wrong?", "If step 2 is wrong, go on.", "Do not redo step 2.",
			"Step -1 is wrong", "Do not, under any circumstances, add a step", "Schritt 2", "Steps 2 and 3", "Step 2 or 3",
			"Step 1, Step 2", "Step 1 is right, step 2 is wrong.", "Add Step or Step 2", "Step 2-3",
			"Remove step 3 and add a new step"},
		"step 0, and the plan has 3 (steps 1 to 3)": {"Step 0", "Step 0 is wrong"},
		"step 4": {"Step 4", "Step 4 is wrong because of its filter."},
		"9999":   {"Step 99999999999999999999"},
		"more than one": {"Add Step 3", "Step 1\nStep 2", "- Add Step\n- Step 2",
			"Step 3 is wrong.\n\nAdd Step"},
	} {
		for _, reply := range replies {
			read(t, Route(3), reading[record.Route]{reply, record.Route{}, problem})
		}
	}
	read(t, Route(0), reading[record.Route]{"Step 1", record.Route{}, "no step to go back to"})
	for steps, want := range map[int]string{0: "`Add Step`, and", 1: "or `Step 1`", 3: "from 1 to 3"} {
		if rule := Route(steps).Rule; !strings.Contains(rule, want) {
			t.Errorf("the rule for %d steps is %q", steps, rule)
		}
	}
}

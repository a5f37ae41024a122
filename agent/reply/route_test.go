package reply

import (
	"strings"
	"testing"

	"dsstar/agent/brief"
	"dsstar/agent/record"
)

func TestParseRoute(t *testing.T) {
	back := func(n int) record.Route { return record.Route{Back: n} }
	add := record.Route{}
	cases := []struct {
		reply   string
		want    record.Route
		problem string
	}{
		{"Add Step", add, ""},
		{"**Add Step**", add, ""},
		{"add a new step.", add, ""},
		{"ADD_STEP", add, ""},
		{"`AddStep`", add, ""},
		{"Decision: Add Step", add, ""},
		{"```\nAdd Step\n```", add, ""},
		{"Add Step\n\nStep 2 is right; what lacks is the mean.", add, ""},
		{"Step 1 loads a.csv.\nStep 2 counts.\nBoth are right.\n\nAdd Step", add, ""},
		{"Every step is right, so add a step that computes the mean.", add, ""},
		{"A step 4 could compute the mean.\n\nAdd Step", add, ""},
		{"<think>Step 2?</think>\nAdd Step", add, ""},
		{"Step 2", back(2), ""},
		{"step 2.", back(2), ""},
		{"**Step 2**", back(2), ""},
		{"Step #2", back(2), ""},
		{"2", back(2), ""},
		{"(2)", back(2), ""},
		{"My answer is: Step 2", back(2), ""},
		{"Step 3 is wrong", back(3), ""},
		{"Step 3 is wrong.", back(3), ""},
		{"Step 2: the filter is wrong.", back(2), ""},
		{"Step 2 is wrong because it does not filter.", back(2), ""},
		{"Step 1 is right. The join is not.\n\nStep 2", back(2), ""},
		{"Step 2\n\nStep 2", back(2), ""},

		{"", add, "empty"},
		{"I cannot decide that.", add, "no choice"},
		{"No further steps are needed; the plan is sufficient.", add, "no choice"},
		{"Step 2 is right.", add, "no choice"},
		{"Step 2 is not wrong.", add, "no choice"},
		{"Do not add a step.", add, "no choice"},
		{"Step -1", add, "no choice"},
		{"Step 1.5", add, "no choice"},
		{"Step two", back(2), ""},
		{"Step 0", add, "step 0"},
		{"Step 4", add, "it names step 4, and the plan has 3"},
		{"Step 99999999999999999999", add, "9999"},
		{"Step 4 is wrong because of its filter.", add, "step 4"},
		{"Add Step 3", add, "more than one"},
		{"Step 1, Step 2", add, "more than one"},
		{"Step 1 is right, step 2 is wrong.", add, "more than one"},
		{"Add Step or Step 2", add, "more than one"},
		{"- Add Step\n- Step 2", add, "more than one"},
		{"Step 3 is wrong.\n\nAdd Step", add, "more than one"},

		// In other dress.
		{"I would choose: Add Step", add, ""},
		{"Option: Add a new step", add, ""},
		{"Add Step 4", add, ""},
		{"Add step 4: compute the mean of what step 2 counts.", add, ""},
		{"None of the steps is wrong, so Add Step", add, ""},
		{`{"route": "Add Step"}`, add, ""},
		{"✅ Add Step", add, ""},
		{"**Step 3**", back(3), ""},
		{"**Step 3** is wrong", back(3), ""},
		{"Step three", back(3), ""},
		{"step #3", back(3), ""},
		{"Fix Step 2", back(2), ""},
		{"Go back to Step 2", back(2), ""},
		{"Redo step 2", back(2), ""},
		{"We should go back to step 2 and count anew.", back(2), ""},
		{"Remove Step 3 from the current plan and add Step 3 again", back(3), ""},
		{`{"route": "Step 2"}`, back(2), ""},
		{`{"step": 2}`, back(2), ""},
		{`{"route": "Step 2", "reason": "its filter is not right"}`, back(2), ""},
		{"| Route | Step 2 |", back(2), ""},

		{"Steps 2 and 3", add, "more than one"},
		{"Steps 2 and 3 are wrong", add, "more than one"},
		{"Steps two and three are wrong", add, "more than one"},
		{"Step 2 or 3", add, "more than one"},
		{"Step 2-3", add, "more than one"},
		{"Add Step 2", add, "more than one"},
		{"Remove step 3 and add a new step", add, "more than one"},
		{"Step 2 is wrong because it does not filter.\n\nAdd Step", add, "more than one"},
		{"Add step 4: fix step 2", add, "more than one"},
		{"Step 0 is wrong", add, "step 0, and the plan has 3 (steps 1 to 3)"},
		{"Step twenty", add, "step 20, and the plan has 3 (steps 1 to 3)"},
		{"Is step 2 wrong?", add, "no choice"},
		{"If step 2 is wrong, go on.", add, "no choice"},
		{"Do not redo step 2.", add, "no choice"},
		{"Step -1 is wrong", add, "no choice"},
		{"Do not, under any circumstances, add a step", add, "no choice"},
		{"Schritt 2", add, "no choice"},
		{"I'm sorry, but I can't help with that.", add, "refusal"},
	}
	for _, c := range cases {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Route(3).readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

func TestRouteRules(t *testing.T) {
	for steps, want := range map[int]string{0: "`Add Step`, and", 1: "`Add Step` or `Step 1`", 3: "from 1 to 3"} {
		if rule := Route(steps).Rule; !strings.Contains(rule, want) {
			t.Errorf("the rule for %d steps is %q", steps, rule)
		}
	}
	if _, err := Route(0).readText("Step 1"); err == nil || !strings.Contains(err.Error(), "no step to go back to") {
		t.Error(err)
	}
}

package reply

import (
	"strings"
	"testing"

	"dsstar/agent/brief"
	"dsstar/agent/record"
)

func TestParseRouteDresses(t *testing.T) {
	back := func(n int) record.Route { return record.Route{Back: n} }
	add := record.Route{}
	cases := []struct {
		reply   string
		want    record.Route
		problem string
	}{
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

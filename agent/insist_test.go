package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsstar/notebook"
)

// TestJudgeKnowsHand: the judge is told which cells are a person's, and what they were before.
func TestJudgeKnowsHand(t *testing.T) {
	p := play(t, three).noError(t)
	lacks(t, p.model.prompt(t, "judge round 3"), "Cells of the user")
	tr := must(edited(t, p.Trajectory, all(source("step-2", "\"2\"", "\"mine\""), insert("step-2", mine))))
	got := goOn(t, more, tr).noError(t)
	contains(t, got.model.prompt(t, "judge round 5"), "The user wrote the cell of step 2 in place of this one:",
		"y += \"2\"", "The user wrote the cell of step 3.")
}

// TestReadingsAfterEdit: readings are named anew after a change of the cells that took them. What a person
// has chosen stays, and so do the readings if the judge names none.
func TestReadingsAfterEdit(t *testing.T) {
	open := simple.with(script{"solver round 1": reads(isOpen), "branches": branches("z = 2\nz")})
	p := play(t, open).noError(t)
	now := func(taken int, more ...string) string {
		text := fmt.Sprintf("Reading: Which of 1 count.\nOption 1: all\nOption 2: some\nTaken: %d\n%s\n\n", taken, isOpen)
		return text + strings.Join(more, "") + "Verdict: sufficient\nReason: it is\n\n```python\ny = x\nprint(y)\ny\n```"
	}
	other := "Reading: Whether it counts.\nOption 1: yes\nOption 2: no\nTaken: 2\n" + isOpen + "\n\n"
	change := source("step-1", "x = 1", "x = 2")
	for _, c := range []struct {
		name   string
		change func(reporter, *notebook.Notebook)
		judge  string
		taken  []int
	}{
		{"another option", change, now(2), []int{1}},
		{"another point", change, now(1, other), []int{0, 1}},
		{"none is named", change, judged, []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := goOn(t, open.with(script{"judge round 2": c.judge, "branches": branches("z = 3\nz", "z = 3\nz")}),
				must(edited(t, p.Trajectory, c.change))).noError(t)
			var taken []int
			for _, r := range got.Readings {
				taken = append(taken, r.Chosen)
			}
			if !slices.Equal(taken, c.taken) {
				t.Errorf("%+v", got.Readings)
			}
			contains(t, got.model.prompt(t, "judge round 2"), "They may take other options now", "Which of 1 count.")
		})
	}
	t.Run("a note", func(t *testing.T) {
		got := goOn(t, open, must(edited(t, p.Trajectory, insert("step-1", note("Mind."))))).noError(t)
		lacks(t, got.model.prompt(t, "judge round 2"), "They may take other options now")
	})
}

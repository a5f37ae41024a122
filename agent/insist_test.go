package agent_test

import (
	"testing"
)

// TestJudgeKnowsHand: the judge is told which cells are a person's, and what they were before.
func TestJudgeKnowsHand(t *testing.T) {
	p := play(t, three).noError(t)
	lacks(t, p.model.prompt(t, "judge round 3"), "Cells of the user")
	tr := must(edited(t, p.Trajectory, all(source("step-2", "\"2\"", "\"mine\""), insert("step-2", mine))))
	got := goOn(t, more, tr).noError(t)
	contains(t, got.model.prompt(t, "judge round 5"), "The user wrote the cell of step 2 in place of this one:",
		"y += \"2\"", "The user wrote the cell of step 3.")
	again := goOn(t, open, must(edited(t, play(t, open).Trajectory, doubled))).noError(t)
	contains(t, again.model.prompt(t, "judge round 2"), "They may take other options now", "Which of 1 count.")
}

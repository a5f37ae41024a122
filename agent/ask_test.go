package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestAsk: the next question is asked after an answer, replaces one for which nothing was done, and
// its requests and its part of the notebook come after those before. Its requests begin as they did.
func TestAsk(t *testing.T) {
	first := play(t, open).noError(t)
	tr := next(t, first.Trajectory)
	corrects := onward.with(script{"verdict": yes + "\nCorrects: 1"})
	p := goOn(t, corrects, question("What now?", "A word.")(t, tr)).noError(t)
	if p.Earlier() != 1 || p.Task.Question != "What now?" {
		t.Errorf("%d questions before %q", p.Earlier(), p.Task.Question)
	}
	contains(t, p.model.prompt(t, "solver round 2"), "# Question\n\nWhat now?", "Question 1: How many?", "x = 1",
		"Which of 1 count.", "- some: 2")
	before, _, _ := strings.Cut(first.model.prompt(t, "solver round 1"), "# Question\n")
	if !strings.HasPrefix(p.model.prompt(t, "solver round 2"), before+"# Answered before") || before == "" {
		t.Errorf("the next question's request does not begin with\n%s", before)
	}
	contains(t, p.model.prompt(t, "second the answer to question 2"), "Which of 1 count.", "- some: 2")
	nb := readNotebook(t, p.Trajectory)
	contains(t, nb.Cells[cellOf(t, nb, "question-2")].Source, "# Question 2: What now?", "12")
	contains(t, nb.Cells[cellOf(t, nb, "question")].Source, "Question 2 corrects this answer.")
	third := goOn(t, fresh, next(t, readAgain(t, p.Trajectory))).noError(t)
	contains(t, third.model.prompt(t, "solver round 3"), "Question 2 corrects this answer.")
	contains(t, p.Script(), "# %% Question 1, Step 1: ", "# %% Question 2, Answer: What now?")
	if err := record.New(record.Task{}, record.Question{Rounds: []record.Round{{ByHand: true,
		Attempts: []record.Attempt{{Execution: notebook.Execution{Status: notebook.OK}}}}}}).Ask("??", ""); err == nil {
		t.Error("a cell of a person's goes with a question")
	}
}

// TestRetract: a question that is retracted leaves the run as it was, without anything being asked,
// and another one may be asked in its place.
func TestRetract(t *testing.T) {
	first := play(t, simple).noError(t).Trajectory
	p := goOn(t, onward, next(t, readAgain(t, first))).noError(t)
	for _, number := range []int{0, 1, 3} {
		if err := p.Retract(number); err == nil || len(p.Questions) != 2 {
			t.Errorf("question %d is retracted", number)
		}
	}
	retracted := func() *record.Trajectory {
		tr := readAgain(t, p.Trajectory)
		must(0, tr.Retract(2))
		return tr
	}
	back := goOn(t, script{}, retracted()).noError(t)
	usage := cmpopts.IgnoreFields(record.Trajectory{}, "Usage", "ByRole", "Seal")
	if diff := cmp.Diff(first, back.Trajectory, same, usage); diff != "" {
		t.Errorf("(-before +retracted)\n%s", diff)
	}
	other := goOn(t, fresh, question("In another way?", "")(t, retracted())).noError(t)
	if len(other.Questions) != 2 || other.Text != "In another way?" || !other.Verified() {
		t.Errorf("%d questions, the last %q, %q", len(other.Questions), other.Text, other.Doubts())
	}
}

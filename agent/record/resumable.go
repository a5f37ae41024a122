package record

import (
	"fmt"

	"dsstar/notebook/human"
)

// Finished reports whether a run has nothing left to do, given the current data files and the
// maximum number of rounds.
func Finished(t *Trajectory, files []File, maxRounds int) bool {
	proved := t.Ended && t.Answer() != "" && t.Proof != nil && !t.Proof.Unable
	return proved && (t.Sufficient() || t.RoundsLeft(maxRounds) <= 0) && t.DataChanges(files) == ""
}

// Edits describes the edits to the notebook that were not carried out yet.
func (t *Trajectory) Edits() []string {
	if n := len(t.Rounds); n > t.EarlierRounds() {
		if last := t.Rounds[n-1]; last.Edit != nil && last.Verdict == nil {
			return last.Edit.What
		}
	}
	return nil
}

// DataChanges describes how the data files and their companions differ in name or size from those
// that were described. It returns "" if they do not.
func (t *Trajectory) DataChanges(now []File) string {
	present := map[string]File{}
	for _, f := range now {
		present[f.Name] = f
	}
	for _, f := range t.Task.Files {
		switch is, there := present[f.Name]; {
		case !there:
			return f.Name + " is not there"
		case !is.Same(f):
			return fmt.Sprintf("%s has %s, not %s", f.Name, is.Weight(), f.Weight())
		}
	}
	if n := len(now) - len(t.Task.Files) - t.Task.Others; n != 0 {
		return fmt.Sprintf("there are %s, not %d", human.Plural(len(now), "file"), len(now)-n)
	}
	return ""
}

// Drop drops a step of the plan, by its number from 1, and all after it, as a person does who
// removes their cells. The run then continues from there.
func (t *Trajectory) Drop(step int) error {
	plan := t.Plan()
	switch {
	case t.Method.Script:
		return &EditError{"a run in the paper's way has no cells to go back to, but whole scripts"}
	case len(t.Edits()) > 0:
		return &EditError{"the notebook was edited, and those edits come first"}
	case step < 1 || step > len(plan):
		return &EditError{fmt.Sprintf("the plan has %s, and no step %d", human.Plural(len(plan), "step"),
			step)}
	}
	t.Rounds = append(t.Rounds, Round{Edit: &Edit{
		What: []string{fmt.Sprintf("step %d was dropped, with all after it", step)},
		Plan: Numbers(plan[:step-1]),
	}})
	t.Unsettle()
	if t.Final != nil {
		t.Final = &Final{Begun: t.Final.Begun + 1}
	}
	t.Ended, t.Failure = false, ""
	return nil
}

// Ask adds another question to the same session. The error is an [*EditError] if the previous
// question is still open.
func (t *Trajectory) Ask(question, guidelines string) error {
	if t.Method.Script {
		return &EditError{"a run in the paper's way has no session " +
			"in which another question could be asked"}
	}
	if n := len(t.Earlier); n > 0 && len(t.Rounds) == t.EarlierRounds() {
		t.Task.Question, t.Task.Guidelines = question, guidelines
		t.Ended, t.Failure = false, ""
		return nil // nothing was done for the one before
	}
	if !t.Ended || t.Answer() == "" {
		return &EditError{"the question before is not answered yet, or cells were changed since"}
	}
	t.Earlier = append(t.Earlier, Part{
		Question: t.Task.Question, Guidelines: t.Task.Guidelines, End: len(t.Rounds),
		Final: t.Final, Proof: t.Proof, Readings: t.Readings, Second: t.Second,
	})
	t.Task.Question, t.Task.Guidelines = question, guidelines
	t.Final, t.Proof, t.Ended = nil, nil, false
	t.Readings, t.Second = nil, nil
	return nil
}

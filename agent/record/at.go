package record

import (
	"fmt"
	"slices"
)

// A NoRoundError is a round that a trajectory does not have.
type NoRoundError struct {
	Round  int // that was asked for
	Rounds int // that there are
}

func (e *NoRoundError) Error() string {
	switch e.Rounds {
	case 0:
		return "the run has no rounds"
	case 1:
		return fmt.Sprintf("the run has 1 round, and no round %d", e.Round)
	}
	return fmt.Sprintf("the run has %d rounds, and no round %d", e.Rounds, e.Round)
}

// At returns what a round, counted from 1, began with, and what it tried: the
// code of the cells that make the session's state at its beginning, which are
// those of the plan as it was then, and the attempts at its cell, each of which
// ran on that state; those that a person did not let run are left out. It does not matter what became of the round or of the plan
// later. The error is a [NoRoundError].
func (t *Trajectory) At(round int) (cells []string, attempts []Attempt, err error) {
	if round < 1 || round > len(t.Rounds) {
		return nil, nil, &NoRoundError{round, len(t.Rounds)}
	}
	attempts = slices.DeleteFunc(slices.Clone(t.Rounds[round-1].Attempts), Attempt.NotRun)
	return t.Part(t.partOf(round) - 1).UpTo(round - 1).Base(), attempts, nil
}

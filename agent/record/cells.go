package record

import "fmt"

// The functions of this file tell which cells a trajectory comes to.

// cellRounds returns the rounds of the last part whose code is a cell of the
// notebook: those of the plan, and those that a person wants in it. Of whole
// scripts it is the last one alone, until the final one.
func (t *Trajectory) CellRounds() []int {
	rounds := append(t.AcceptedRounds(), t.ToRepeat()...)
	if !t.Method.Script || len(rounds) == 0 {
		return rounds
	}
	if _, ok := t.FinalCell(); ok {
		return nil
	}
	return rounds[len(rounds)-1:]
}

// A titled cell is one that Run All executes.
type titled struct{ title, code string }

// own returns the cells of the last part.
func (t *Trajectory) own() []titled {
	var cells []titled
	for n, i := range t.CellRounds() {
		a, _ := t.Rounds[i].Accepted()
		if t.Method.Script {
			n = t.StepOf(i) - 1 // whole scripts, and only one of them is here
		}
		cells = append(cells, titled{fmt.Sprintf("Step %d: %s", n+1, t.Rounds[i].Step), a.Code})
	}
	if a, ok := t.FinalCell(); ok {
		cells = append(cells, titled{"Answer", a.Code})
	}
	return cells
}

// before returns the cells before the last part.
func (t *Trajectory) EarlierCells() []titled {
	cells := t.Opening()
	for k := range t.Earlier {
		cells = append(cells, t.Part(k).own()...)
	}
	return cells
}

func codes(cells []titled) []string {
	var all []string
	for _, c := range cells {
		all = append(all, c.code)
	}
	return all
}

// base returns the code that the next cell builds on: parameters, set-up and,
// unless every cell is a whole script, the accepted steps.
func (t *Trajectory) Base() []string {
	cells := codes(t.EarlierCells())
	if t.Method.Script {
		return cells
	}
	for _, i := range t.AcceptedRounds() {
		a, _ := t.Rounds[i].Accepted()
		cells = append(cells, a.Code)
	}
	return cells
}

// Cells returns the code of the notebook's cells in order: parameters, set-up,
// the accepted steps and, when there is one, the final cell, of every part.
func (t *Trajectory) Cells() []string { return codes(append(t.EarlierCells(), t.own()...)) }

func (t *Trajectory) FinalCell() (Attempt, bool) {
	if t.Final == nil {
		return Attempt{}, false
	}
	return Round{Attempts: t.Final.Attempts}.Accepted()
}

package record

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/notebook"
)

// Plan returns the indexes of the rounds whose steps make up the current plan. It is derived from
// routes and edits, never stored. Algorithm 1, lines 18 to 25: a route back to step l keeps the
// steps 1..l-1.
func (t *Trajectory) Plan() []int {
	var plan []int
	for i := t.EarlierRounds(); i < len(t.Rounds); i++ {
		r := t.Rounds[i]
		if r.Edit != nil {
			plan = indexes(r.Edit.Plan)
		} else {
			plan = append(plan, i)
		}
		if r.Route != nil && r.Route.Back > 0 && r.Route.Back <= len(plan) {
			plan = plan[:r.Route.Back-1]
		}
	}
	return plan
}

// indexes converts round numbers, from 1, to indexes.
func indexes(numbers []int) []int {
	var all []int
	for _, n := range numbers {
		all = append(all, n-1)
	}
	return all
}

// Numbers is the inverse of indexes.
func Numbers(indexes []int) []int {
	all := []int{}
	for _, i := range indexes {
		all = append(all, i+1)
	}
	return all
}

// LastEdit returns the last edit of the last part, or nil.
func (t *Trajectory) LastEdit() *Edit {
	for i := len(t.Rounds) - 1; i >= t.EarlierRounds(); i-- {
		if edit := t.Rounds[i].Edit; edit != nil {
			return edit
		}
	}
	return nil
}

// ToRepeat returns the rounds that must run again before the plan continues.
func (t *Trajectory) ToRepeat() []int {
	if edit := t.LastEdit(); edit != nil {
		return indexes(edit.Rest)
	}
	return nil
}

// RoundsLeft returns how many more rounds may begin. Only rounds since the last edit count.
func (t *Trajectory) RoundsLeft(most int) int {
	for i := len(t.Rounds) - 1; i >= t.EarlierRounds() && t.Rounds[i].Edit == nil; i-- {
		most--
	}
	return most
}

// AcceptedRounds returns the rounds of the plan whose cell has run.
func (t *Trajectory) AcceptedRounds() []int {
	var rounds []int
	for _, i := range t.Plan() {
		if _, ok := t.Rounds[i].Accepted(); ok {
			rounds = append(rounds, i)
		}
	}
	return rounds
}

// Mine returns the number of the first step of the plan, from step from on, whose cell a person wrote; 0 if
// there is none.
func (t *Trajectory) Mine(from int) int {
	for n, i := range t.AcceptedRounds() {
		if n+1 >= from && t.Rounds[i].ByHand {
			return n + 1
		}
	}
	return 0
}

// ByHand reports whether a person wrote a cell of any question.
func (t *Trajectory) ByHand(code string) bool {
	for k := range len(t.Earlier) + 1 {
		part := t.Part(k)
		for _, i := range part.CellRounds() {
			if a, _ := t.Rounds[i].Accepted(); a.Code == code && t.Rounds[i].ByHand {
				return true
			}
		}
		if a, _ := part.FinalCell(); a.Code == code && part.Final != nil && part.Final.ByHand {
			return true
		}
	}
	return false
}

// Steps returns the number of accepted steps in the plan.
func (t *Trajectory) Steps() int { return len(t.AcceptedRounds()) }

// StepTexts returns the texts of the accepted steps.
func (t *Trajectory) StepTexts() []string {
	var texts []string
	for _, i := range t.AcceptedRounds() {
		texts = append(texts, t.Rounds[i].Step)
	}
	return texts
}

// StepOf returns the number that the step of round i had when it was planned.
func (t *Trajectory) StepOf(i int) int { return len(t.UpTo(i).Plan()) + 1 }

// DroppedBy returns the index of the round whose route or edit took the step of round i out of the
// plan.
func (t *Trajectory) DroppedBy(i int) (round int, ok bool) {
	if t.Rounds[i].Edit != nil || slices.Contains(t.Plan(), i) {
		return 0, false
	}
	for n := i; n < len(t.Rounds); n++ {
		if !slices.Contains(t.UpTo(n+1).Plan(), i) {
			return n, true
		}
	}
	return 0, false
}

// At returns the cells of the plan at the start of a round, numbered from 1, and the attempts that
// ran on the state that they produce.
func (t *Trajectory) At(round int) (cells []string, attempts []Attempt) {
	attempts = slices.DeleteFunc(slices.Clone(t.Rounds[round-1].Attempts), Attempt.NotRun)
	return t.Part(t.PartOf(round) - 1).UpTo(round - 1).Base(), attempts
}

// LastScript returns the last accepted attempt, on which the paper's next script builds.
func (t *Trajectory) LastScript() (Attempt, bool) {
	for i := len(t.Rounds) - 1; i >= 0; i-- {
		if a, ok := t.Rounds[i].Accepted(); ok {
			return a, true
		}
	}
	return Attempt{}, false
}

// CellRounds returns the rounds of the last part whose code is a cell of the notebook: those of the
// plan and those that a person added. If every cell is a whole script, only the last one counts,
// and none once there is a final script.
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

// The roles of the cells before the first step, under the metadata key "dsstar".
const (
	RoleParameters = "parameters"
	RoleSetup      = "setup"
	RoleTools      = "tools"     // defines the functions of memory that the cells use
	RoleVariables  = "variables" // loads what the cells use of somebody's session
)

// Titled is a cell that Run All executes. Those before the first step have a role.
type Titled struct{ Role, Title, Code string }

// own returns the cells of the last part.
func (t *Trajectory) own() []Titled {
	var cells []Titled
	for n, i := range t.CellRounds() {
		a, _ := t.Rounds[i].Accepted()
		if t.Method.Script {
			n = t.StepOf(i) - 1 // the notebook has the last script alone
		}
		cells = append(cells, Titled{Title: fmt.Sprintf("Step %d: %s", n+1, t.Rounds[i].Step), Code: a.Code})
	}
	if a, ok := t.FinalCell(); ok {
		cells = append(cells, Titled{Title: "Answer", Code: a.Code})
	}
	return cells
}

// OwnCells returns the code of the accepted cells of the last question.
func (t *Trajectory) OwnCells() []string { return codes(t.own()) }

// EarlierCells returns the cells before the last part.
func (t *Trajectory) EarlierCells() []Titled {
	cells := t.Opening()
	for k := range t.Earlier {
		cells = append(cells, t.Part(k).own()...)
	}
	return cells
}

func codes(cells []Titled) []string {
	var all []string
	for _, c := range cells {
		all = append(all, c.Code)
	}
	return all
}

// A Chain is the cells that a cell runs on.
type Chain struct {
	SetUp   []string // parameters, set-up, variables, functions
	Earlier []string // of the questions before
	Answers []int    // places in Earlier of their last cells
	Steps   []string // accepted ones of this question
}

// Cells returns all of them in order.
func (c Chain) Cells() []string { return slices.Concat(c.SetUp, c.Earlier, c.Steps) }

// State returns what tells the state that cells produce: the cells but for where the data are.
func State(cells []string) []string {
	cells = slices.Clone(cells)
	if line, rest, ok := strings.Cut(slices.Concat(cells, []string{""})[0], "\n"); ok && strings.HasPrefix(line, "data_dir = ") {
		cells[0] = rest
	}
	return cells
}

// Chain returns the cells that the next one, with the code given, builds on.
func (t *Trajectory) Chain(code string) Chain {
	opening := t.opening(code)
	c := Chain{SetUp: codes(opening)}
	for k := range t.Earlier {
		c.Earlier = append(c.Earlier, codes(t.Part(k).own())...)
		if _, ok := t.Part(k).FinalCell(); ok {
			c.Answers = append(c.Answers, len(c.Earlier)-1)
		}
	}
	if t.Method.Script {
		return c
	}
	for _, i := range t.AcceptedRounds() {
		a, _ := t.Rounds[i].Accepted()
		c.Steps = append(c.Steps, a.Code)
	}
	return c
}

// Base returns the code that the next cell builds on: parameters, set-up and, unless every cell is
// a whole script, the accepted steps.
func (t *Trajectory) Base() []string {
	return t.Chain("").Cells()
}

// Cells returns the code of the notebook's cells in order.
func (t *Trajectory) Cells() []string { return codes(append(t.EarlierCells(), t.own()...)) }

// FinalCell returns the accepted last cell, if there is one.
func (t *Trajectory) FinalCell() (Attempt, bool) {
	if t.Final == nil {
		return Attempt{}, false
	}
	return Accepted(t.Final.Attempts)
}

// Accepted returns the attempt that ran without an error, if there is one.
func (r Round) Accepted() (Attempt, bool) { return Accepted(r.Attempts) }

// Accepted returns the last attempt if it ran, and thus is a cell of the notebook.
func Accepted(attempts []Attempt) (Attempt, bool) {
	if n := len(attempts); n > 0 {
		if a := attempts[n-1]; a.Execution.Status == notebook.OK {
			return a, true
		}
	}
	return Attempt{}, false
}

package record

import (
	"fmt"
	"slices"
	"strings"
)

// Texts returns the questions in order.
func (t *Trajectory) Texts() (all []string) {
	for _, q := range t.Questions {
		all = append(all, q.Text)
	}
	return all
}

// WrittenByHand reports whether a person wrote a cell of any question.
func (t *Trajectory) WrittenByHand(code string) bool {
	for _, q := range t.Questions {
		for _, r := range q.Shown() {
			if r.ByHand && r.Attempts[len(r.Attempts)-1].Code == code {
				return true
			}
		}
		if a, _ := q.FinalCell(); a.Code == code && q.Final != nil && q.Final.ByHand {
			return true
		}
	}
	return false
}

// At returns a round by its number among those of the run, from 1, with the cells of the plan at its
// start, and the attempts that ran on the state that they produce.
func (t *Trajectory) At(number int) (r Round, cells []string, attempts []Attempt, ok bool) {
	for k := range t.Questions {
		p := t.Part(k)
		ever := p.Ever()
		for i, r := range slices.Backward(ever) { // the newest, if it ran more than once
			if r.Number != number-p.Before() || r.By != nil {
				continue
			}
			var steps []string
			for _, step := range slices.Backward(ever[:i]) {
				if a, ran := step.Accepted(); ran && step.Place == r.Place-1-len(steps) && !t.Method.Script {
					steps = append(steps, a.Code)
				}
			}
			slices.Reverse(steps)
			base := p.Chain()
			cells = slices.Concat(base.SetUp, base.Earlier, steps)
			return r, cells, slices.DeleteFunc(slices.Clone(r.Attempts), Attempt.NotRun), true
		}
	}
	return r, nil, nil, false
}

// LastScript returns the last accepted attempt, on which the paper's next script builds.
func (q *Question) LastScript() (Attempt, bool) {
	for _, r := range slices.Backward(q.Rounds) {
		if a, ok := r.Accepted(); ok {
			return a, true
		}
	}
	return Attempt{}, false
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

// OwnCells returns the code of the accepted cells of the last question.
func (t *Trajectory) OwnCells() []string { return codes(t.titled(t.Method.Script)) }

// AskedCells returns the cells of all questions.
func (t *Trajectory) AskedCells() (cells []Titled) {
	for k, q := range t.Questions {
		own := q.titled(t.Method.Script)
		for i := range own {
			if len(t.Questions) > 1 {
				own[i].Title = fmt.Sprintf("Question %d, %s", k+1, own[i].Title)
			}
		}
		cells = append(cells, own...)
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

// Chain returns the cells that the next one builds on: the accepted steps among them, unless every cell
// is a whole script.
func (t *Trajectory) Chain() Chain {
	c := Chain{SetUp: codes(t.Opening())}
	for _, q := range t.Questions[:t.Earlier()] {
		c.Earlier = append(c.Earlier, codes(q.titled(t.Method.Script))...)
		if _, ok := q.FinalCell(); ok {
			c.Answers = append(c.Answers, len(c.Earlier)-1)
		}
	}
	if t.Method.Script {
		return c
	}
	for _, r := range t.Accepted() {
		a, _ := r.Accepted()
		c.Steps = append(c.Steps, a.Code)
	}
	return c
}

// Cells returns the code of the notebook's cells in order.
func (t *Trajectory) Cells() []string { return codes(append(t.Opening(), t.AskedCells()...)) }

package record

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

// At returns a round by its number among those of the run, from 1, with the cells that ran before its
// attempts: those of the plan at its start.
func (t *Trajectory) At(number int) (r Round, cells []string, ok bool) {
	for k := range t.Questions {
		p := t.Part(k)
		base, ever := p.Chain(), p.Ever()
		for i, r := range slices.Backward(ever) { // the newest, if it ran more than once
			if r.Number != number-p.Before() || r.By != nil {
				continue
			}
			base.Steps = nil
			for _, step := range slices.Backward(ever[:i]) {
				if a, ran := step.Accepted(); ran && step.Place == r.Place-1-len(base.Steps) && !t.Method.Script {
					base.Steps = slices.Insert(base.Steps, 0, a.Code)
				}
			}
			return r, base.Cells(), true
		}
	}
	return r, nil, false
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

// titled returns the cells of question k, from 0.
func (t *Trajectory) titled(k int) (cells []Titled) {
	q, of := t.Questions[k], ""
	if len(t.Questions) > 1 {
		of = fmt.Sprintf("Question %d, ", k+1)
	}
	for _, r := range q.Drawn(t.Method.Script) {
		title := fmt.Sprintf("%sStep %d: %s", of, r.Place, r.Step)
		cells = append(cells, Titled{Title: title, Code: r.Attempts[len(r.Attempts)-1].Code})
	}
	if last, ok := q.FinalCell(); ok {
		cells = append(cells, Titled{Title: of + "Answer: " + q.Text, Code: last.Code})
	}
	return cells
}

// asked returns the cells of all questions.
func (t *Trajectory) asked() (cells []Titled) {
	for k := range t.Questions {
		cells = append(cells, t.titled(k)...)
	}
	return cells
}

// OwnCells returns the code of the accepted cells of the last question.
func (t *Trajectory) OwnCells() []string { return codes(t.titled(t.Earlier())) }

// Cells returns the code of the notebook's cells in order.
func (t *Trajectory) Cells() []string { return codes(append(t.Opening(), t.asked()...)) }

// Script returns the code of the notebook's cells in order as one Python script. Editors see the
// cells by the comments between them.
func (t *Trajectory) Script() string { return script(append(t.Opening(), t.asked()...)) }

// OpeningScript returns the script of the cells before the first step.
func (t *Trajectory) OpeningScript() string { return script(t.Opening()) }

func script(cells []Titled) string {
	var b strings.Builder
	for _, line := range Safety {
		b.WriteString("# " + line + "\n")
	}
	for _, c := range cells {
		fmt.Fprintf(&b, "\n\n# %%%% %s\n%s\n", brief.OneLine(c.Title), c.Code)
	}
	return b.String()
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
	for k, q := range t.Questions[:t.Earlier()] {
		c.Earlier = append(c.Earlier, codes(t.titled(k))...)
		if _, ok := q.FinalCell(); ok {
			c.Answers = append(c.Answers, len(c.Earlier)-1)
		}
	}
	for _, r := range t.Accepted() {
		if a, _ := r.Accepted(); !t.Method.Script {
			c.Steps = append(c.Steps, a.Code)
		}
	}
	return c
}

package agent

import (
	"time"

	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/notebook"
)

// A Task is a question about the files of a data folder.
type Task struct {
	Question   string   `json:"question"`
	Guidelines string   `json:"guidelines,omitempty"` // the form of the answer; may be empty
	Data       string   `json:"data"`                 // the data folder: absolute, or relative to the run folder; "": the question is about variables alone
	Files      []File   `json:"files"`                // once the run has chosen, those that the model is shown
	Others     int      `json:"others,omitempty"`     // how many it is not shown
	Unread     []string `json:"unread,omitempty"`     // folders below Data that cannot be read
}

// A File is a data file by its name below the data folder, with slashes.
type File = files.File

// A Description says what is in one file (DS-STAR, section 3.1).
type Description struct {
	File   string    `json:"file"`
	Text   string    `json:"text,omitempty"`   // what the script printed
	Code   string    `json:"code,omitempty"`   // the script; "" if it is that of Like
	Like   string    `json:"like,omitempty"`   // the file whose script made this description too
	Tries  int       `json:"tries,omitempty"`  // scripts that were run
	Failed []Attempt `json:"failed,omitempty"` // those that gave no description
	Error  string    `json:"error,omitempty"`  // why there is no text, in one line

	Kind      string `json:"kind,omitempty"`      // what the file is by its beginning: "CSV, 12 columns …"
	Whole     bool   `json:"whole,omitempty"`     // Text is the content itself
	Cached    bool   `json:"cached,omitempty"`    // made by an earlier run
	Corrected bool   `json:"corrected,omitempty"` // by a person
}

// lead is the file with whose script the description was made.
func (d Description) lead() string {
	if d.Like != "" {
		return d.Like
	}
	return d.File
}

// An Attempt is one try at a step's cell.
type Attempt struct {
	Code      string             `json:"code"`
	Execution notebook.Execution `json:"execution"`
}

// A Verdict is the verifier's judgement of plan, code and results. An
// inconclusive one is sufficient too: the plan has shown that the data hold no
// answer.
type Verdict struct {
	Sufficient   bool   `json:"sufficient"`
	Unfinished   bool   `json:"unfinished,omitempty"` // insufficient, but every step is right as far as it goes
	Inconclusive bool   `json:"inconclusive,omitempty"`
	Reason       string `json:"reason,omitempty"` // what is missing, or why it suffices
}

// A Route is the router's decision after an insufficient verdict: Back is 0
// for Add Step, and l when step l is wrong, which drops the steps l and after.
type Route struct {
	Back   int    `json:"back"`
	Reason string `json:"reason,omitempty"`
}

// A Round is one turn of the loop: a step is planned, its cell is tried until
// it runs, the plan is judged, and if it does not suffice a route is chosen.
type Round struct {
	Step     string    `json:"step"`
	Attempts []Attempt `json:"attempts"`
	Verdict  *Verdict  `json:"verdict,omitempty"` // nil until judged
	Route    *Route    `json:"route,omitempty"`   // nil until chosen
}

// Accepted returns the attempt that ran without fault, if there is one: the
// last, as a round stops trying then.
func (r Round) Accepted() (Attempt, bool) {
	if n := len(r.Attempts); n > 0 && r.Attempts[n-1].Execution.Status == notebook.OK {
		return r.Attempts[n-1], true
	}
	return Attempt{}, false
}

// Final is the last cell, which prints the answer, with the tries at it.
type Final struct {
	Attempts []Attempt `json:"attempts"`
	Answer   string    `json:"answer"`
}

// A Proof tells how a fresh, private session ran the accepted cells, and plain
// Python the script, from nothing.
type Proof struct {
	Same    bool    `json:"same"`             // both printed the answer
	Reason  string  `json:"reason,omitempty"` // what differed or failed, in one line
	Seconds float64 `json:"seconds"`
}

// A Trajectory is the whole record of a run. The notebook is drawn from it
// ([Draw]) and read back into it ([ReadTrajectory]).
type Trajectory struct {
	Task         Task             `json:"task"`
	Method       Method           `json:"method,omitzero"`
	Started      time.Time        `json:"started"`
	Environment  string           `json:"environment,omitempty"` // Python and its packages, as the model was told
	Descriptions []Description    `json:"-"`
	Variables    []Variable       `json:"-"` // of the session, if it is somebody else's
	Rounds       []Round          `json:"-"`
	Final        *Final           `json:"-"`
	Proof        *Proof           `json:"proof,omitempty"`
	Models       []string         `json:"models,omitempty"` // that answered
	Usage        Usage            `json:"usage"`
	ByRole       map[string]Usage `json:"by_role,omitempty"`  // the same, by role
	Cost         *float64         `json:"cost_usd,omitempty"` // nil: a price is not known
	Seconds      Seconds          `json:"seconds"`
	Warnings     []string         `json:"warnings,omitempty"`
	Ended        bool             `json:"ended"`
	Failure      string           `json:"failure,omitempty"` // what ended the run before its end, in one line
}

// Usage is what the model calls of a run have used.
type Usage struct {
	Calls int `json:"calls"`
	llm.Usage
}

// Seconds is where the wall time of a run went.
type Seconds struct {
	Total  float64 `json:"total"`
	Model  float64 `json:"model"`  // at least one model call was under way
	Kernel float64 `json:"kernel"` // at least one kernel was starting or running code
}

// Plan returns the indexes of the rounds whose steps make up the plan now: it
// is derived from the routes, never stored. Algorithm 1, lines 18 to 25: a
// route back to step l keeps the steps 1..l-1.
func (t *Trajectory) Plan() []int {
	var plan []int
	for i := range t.Rounds {
		plan = append(plan, i)
		if route := t.Rounds[i].Route; route != nil && route.Back > 0 && route.Back <= len(plan) {
			plan = plan[:route.Back-1]
		}
	}
	return plan
}

// acceptedRounds returns the rounds of the plan whose cell has run: all but
// the one that is under way.
func (t *Trajectory) acceptedRounds() []int {
	var rounds []int
	for _, i := range t.Plan() {
		if _, ok := t.Rounds[i].Accepted(); ok {
			rounds = append(rounds, i)
		}
	}
	return rounds
}

// droppedBy returns the index of the round whose route took round i out of the
// plan: the first one from there that goes back far enough.
func (t *Trajectory) droppedBy(i int) (round int, ok bool) {
	for n := i; n < len(t.Rounds); n++ {
		if route := t.Rounds[n].Route; route != nil && route.Back > 0 && route.Back <= t.stepOf(i) {
			return n, true
		}
	}
	return 0, false
}

// stepOf returns the number that the step of round i had in the plan.
func (t *Trajectory) stepOf(i int) int {
	before := Trajectory{Rounds: t.Rounds[:i]}
	return len(before.Plan()) + 1
}

// steps returns the texts of the plan's steps.
func (t *Trajectory) steps() []string {
	var texts []string
	for _, i := range t.acceptedRounds() {
		texts = append(texts, t.Rounds[i].Step)
	}
	return texts
}

// lastScript returns the attempt of the last round that has run: in the paper's
// way the script that the next one is made from.
func (t *Trajectory) lastScript() (Attempt, bool) {
	for i := len(t.Rounds) - 1; i >= 0; i-- {
		if a, ok := t.Rounds[i].Accepted(); ok {
			return a, true
		}
	}
	return Attempt{}, false
}

// cellRounds returns the rounds whose code is a cell of the notebook: those of
// the plan. Of whole scripts it is the last one alone, until the final one.
func (t *Trajectory) cellRounds() []int {
	rounds := t.acceptedRounds()
	if !t.Method.Script || len(rounds) == 0 {
		return rounds
	}
	if _, ok := t.finalAttempt(); ok {
		return nil
	}
	return rounds[len(rounds)-1:]
}

// base returns the code that the next cell builds on: the opening and, unless
// every cell is a whole script, the accepted steps.
func (t *Trajectory) base() []string {
	cells := t.opening()
	if t.Method.Script {
		return cells
	}
	for _, i := range t.acceptedRounds() {
		a, _ := t.Rounds[i].Accepted()
		cells = append(cells, a.Code)
	}
	return cells
}

// Cells returns the code of the notebook's cells in order: the opening, the
// accepted steps and, when there is one, the final cell.
func (t *Trajectory) Cells() []string { return append(t.opening(), t.codes()...) }

// codes returns the code of the cells that a model has written.
func (t *Trajectory) codes() (cells []string) {
	for _, i := range t.cellRounds() {
		a, _ := t.Rounds[i].Accepted()
		cells = append(cells, a.Code)
	}
	if a, ok := t.finalAttempt(); ok {
		cells = append(cells, a.Code)
	}
	return cells
}

func (t *Trajectory) finalAttempt() (Attempt, bool) {
	if t.Final == nil {
		return Attempt{}, false
	}
	return Round{Attempts: t.Final.Attempts}.Accepted()
}

// Answer returns the answer, or "" when there is none.
func (t *Trajectory) Answer() string {
	if t.Final == nil {
		return ""
	}
	return t.Final.Answer
}

// Sufficient reports whether the judge found the plan sufficient, and nothing
// has been cut from it since.
func (t *Trajectory) Sufficient() bool {
	n := len(t.Rounds)
	return n > 0 && t.Rounds[n-1].Verdict != nil && t.Rounds[n-1].Verdict.Sufficient && t.Rounds[n-1].Route == nil
}

// Inconclusive reports whether the judge found that the data hold no answer.
func (t *Trajectory) Inconclusive() bool {
	return t.Sufficient() && t.Rounds[len(t.Rounds)-1].Verdict.Inconclusive
}

// Verified reports whether the answer is proved: the plan was found sufficient
// and a fresh run printed the same answer.
func (t *Trajectory) Verified() bool {
	return t.Sufficient() && t.Answer() != "" && t.Proof != nil && t.Proof.Same
}

// Doubts says why the answer is not verified; it is empty for one that is.
func (t *Trajectory) Doubts() []string {
	var why []string
	if t.Answer() == "" {
		why = append(why, "no cell printed an answer")
	}
	if !t.Sufficient() {
		why = append(why, "the plan was not judged sufficient")
	}
	if t.Proof != nil && !t.Proof.Same {
		why = append(why, t.Proof.Reason)
	}
	return why
}

// Steps returns the number of accepted steps in the plan.
func (t *Trajectory) Steps() int { return len(t.acceptedRounds()) }

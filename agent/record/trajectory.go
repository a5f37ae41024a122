// Package record holds what a run did: its [Trajectory], and the notebook that records
// it. [Draw] draws the notebook of a trajectory, finished or not; [Read] reads the
// trajectory back, with what a person has edited since as a round of its own. A
// [Folder] is what a run leaves on disk.
package record

import (
	"slices"
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
	LeftOut    string   `json:"left_out,omitempty"`   // their names, as far as the model is told of them
	Unread     []string `json:"unread,omitempty"`     // folders below Data that cannot be read

	Include []string        `json:"include,omitempty"` // what is listed though it is mostly no data: see [files.List]
	Skipped []files.Skipped `json:"skipped,omitempty"` // what is not listed for that
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
	Near   int       `json:"near,omitempty"`   // its place by nearness to the question, from 1; 0: not ranked yet
	Alike  string    `json:"alike,omitempty"`  // names of files like it, which are not described

	Kind      string `json:"kind,omitempty"`      // what the file is by its beginning: "CSV, 12 columns …"
	Whole     bool   `json:"whole,omitempty"`     // Text is the content itself
	Cached    bool   `json:"cached,omitempty"`    // made by an earlier run
	Corrected bool   `json:"corrected,omitempty"` // by a person
}

// Lead is the file with whose script the description was made.
func (d Description) Lead() string {
	if d.Like != "" {
		return d.Like
	}
	return d.File
}

// An Attempt is one try at a step's cell.
type Attempt struct {
	Code      string             `json:"code"`
	Execution notebook.Execution `json:"execution"`
	Candidate int                `json:"candidate,omitempty"` // from 1: one of several for the step that is not, or not yet, picked
}

// A Pick is the verifier's choice among the candidates for a step.
type Pick struct {
	Candidate int    `json:"candidate"`        // the one that became the step's cell, from 1
	Of        int    `json:"of"`               // that were asked for
	Reason    string `json:"reason,omitempty"` // "" where there was nothing to choose
}

// A Return is one time that the session went back to the accepted cells.
type Return struct {
	After int `json:"after,omitempty"` // attempts that there were: the last of them, from 1, is what was undone
	notebook.Restoration
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

// Word returns the verdict in one word.
func (v Verdict) Word() string {
	switch {
	case v.Inconclusive:
		return "inconclusive"
	case v.Sufficient:
		return "sufficient"
	case v.Unfinished:
		return "unfinished"
	}
	return "insufficient"
}

// A Route is the router's decision after an insufficient verdict: Back is 0
// for Add Step, and l when step l is wrong, which drops the steps l and after.
type Route struct {
	Back   int    `json:"back"`
	Reason string `json:"reason,omitempty"`
}

// A Round is one turn of the loop: a step is planned, its cell is tried until
// it runs, the plan is judged, and if it does not suffice a route is chosen. Or a
// person took the turn: then Edit says what the plan is from there on.
type Round struct {
	Step     string    `json:"step"`
	Attempts []Attempt `json:"attempts"`
	Pick     *Pick     `json:"pick,omitempty"`    // nil: there was one candidate, or none is picked yet
	Returns  []Return  `json:"returns,omitempty"` // without their executions
	Verdict  *Verdict  `json:"verdict,omitempty"` // nil until judged
	Route    *Route    `json:"route,omitempty"`   // nil until chosen

	Edit    *Edit  `json:"edit,omitempty"`    // the person's turn; there is no step then
	ByHand  bool   `json:"by_hand,omitempty"` // a person wrote the cell, or changed it
	Rewrite string `json:"rewrite,omitempty"` // what a person has made of the step, whose cell is still that of the old one
}

// An Edit is a person's turn: what the notebook looked like when the run was
// resumed.
type Edit struct {
	What []string `json:"what"`           // what the person did, in words
	Plan []int    `json:"plan"`           // the rounds, from 1, whose cells make up the plan
	Rest []int    `json:"rest,omitempty"` // those that follow them as soon as they have been run again

	Ordered bool `json:"ordered,omitempty"` // the person put the cells into this order, which is not changed for one that fails
}

// Accepted returns the attempt that ran without fault, if there is one: the
// last, as a round stops trying then. A candidate is none before it is picked.
func (r Round) Accepted() (Attempt, bool) {
	if n := len(r.Attempts); n > 0 && r.Attempts[n-1].Execution.Status == notebook.OK && r.Attempts[n-1].Candidate == 0 {
		return r.Attempts[n-1], true
	}
	return Attempt{}, false
}

// Final is the last cell, which prints the answer, with the tries at it.
type Final struct {
	Attempts []Attempt `json:"attempts"`
	Returns  []Return  `json:"returns,omitempty"` // without their executions
	Answer   string    `json:"answer"`
	ByHand   bool      `json:"by_hand,omitempty"` // a person wrote the cell, or changed it
	Again    bool      `json:"again,omitempty"`   // the accepted cell is to be run again
	Begun    int       `json:"begun,omitempty"`   // how often it was begun anew, with none of the tries before
}

// A Part is a question that was answered before another was asked in the same
// session. Its rounds are those of the trajectory up to End, but for those of
// the part before.
type Part struct {
	Question   string `json:"question"`
	Guidelines string `json:"guidelines,omitempty"`
	End        int    `json:"end"` // number of rounds, from the first of the trajectory
	Final      *Final `json:"final,omitempty"`
	Proof      *Proof `json:"proof,omitempty"`
}

// A Request is one of a role to the model, by its subject.
type Request struct {
	Role    string `json:"role"`
	Subject string `json:"subject"`
}

// A Kept cell is a person's own: neither code of the plan nor of dsstar. It stays
// where it is in the notebook.
type Kept struct {
	After string // id of the cell before it that is dsstar's; "" for the beginning
	Cell  notebook.Cell
}

// A Proof tells how a fresh, private session ran the accepted cells, and plain
// Python the script, from nothing.
type Proof struct {
	Same    bool    `json:"same"`             // both printed the answer
	Reason  string  `json:"reason,omitempty"` // what differed or failed, in one line
	Unable  bool    `json:"unable,omitempty"` // no session could be opened for it: it is still to be made
	Seconds float64 `json:"seconds"`
}

// A Trajectory is the whole record of a run. The notebook is drawn from it
// ([Draw]) and read back into it ([Read]).
type Trajectory struct {
	Task         Task          `json:"task"` // of the last part
	Method       Method        `json:"method,omitzero"`
	Environment  string        `json:"environment,omitempty"` // Python and its packages, as the model was told
	Sandbox      string        `json:"sandbox,omitempty"`     // what has confined the cells, of the last part
	Memory       int64         `json:"memory,omitempty"`      // bytes that the session may take, as the coder is told; 0: not known
	Descriptions []Description `json:"descriptions,omitempty"`
	Variables    []Variable    `json:"variables,omitempty"` // of the session, if it is somebody else's
	Described    bool          `json:"described,omitempty"` // all files that the model is shown are
	Earlier      []Part        `json:"earlier,omitempty"`
	Rounds       []Round       `json:"rounds"` // of all parts
	Final        *Final        `json:"final,omitempty"`
	Proof        *Proof        `json:"proof,omitempty"`
	Notes        []string      `json:"notes,omitempty"`   // to the agent, that it has read
	Kept         []Kept        `json:"-"`                 // where they stand in the notebook
	Scripts      []string      `json:"scripts,omitempty"` // digests of the last two that were written: what stands in the script's file is ours if it is one of them
	Models       []string      `json:"models,omitempty"`  // that answered
	Warnings     []string      `json:"warnings,omitempty"`
	Ended        bool          `json:"ended"`
	Failure      string        `json:"failure,omitempty"`  // what ended the run before its end, in one line
	Unusable     *Request      `json:"unusable,omitempty"` // the request whose replies ended it, as they could not be used

	Started time.Time        `json:"started"`
	Usage   Usage            `json:"usage"`
	ByRole  map[string]Usage `json:"by_role,omitempty"`  // the same, by role
	Cost    *float64         `json:"cost_usd,omitempty"` // nil: a price is not known
	Seconds Seconds          `json:"seconds"`
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

// Part returns the trajectory as it was when part k ended: parts are counted
// from 0, and the last is t itself.
func (t *Trajectory) Part(k int) *Trajectory {
	if k >= len(t.Earlier) {
		return t
	}
	p, view := t.Earlier[k], *t
	view.Task.Question, view.Task.Guidelines = p.Question, p.Guidelines
	view.Earlier, view.Rounds, view.Final, view.Proof = t.Earlier[:k], t.Rounds[:p.End], p.Final, p.Proof
	view.Ended, view.Failure = true, ""
	return &view
}

// partOf returns the part, from 1, that round n is of, from 1 too.
func (t *Trajectory) partOf(n int) int {
	for k, p := range t.Earlier {
		if n <= p.End {
			return k + 1
		}
	}
	return len(t.Earlier) + 1
}

// UpTo returns the trajectory's last part as it was after n rounds.
func (t *Trajectory) UpTo(n int) *Trajectory {
	view := *t
	view.Rounds, view.Final, view.Proof = t.Rounds[:n], nil, nil
	return &view
}

// EarlierRounds is the number of rounds of the parts before the last.
func (t *Trajectory) EarlierRounds() int {
	if n := len(t.Earlier); n > 0 {
		return t.Earlier[n-1].End
	}
	return 0
}

// Plan returns the indexes of the rounds whose steps make up the plan now: it
// is derived from the routes and edits, never stored. Algorithm 1, lines 18 to
// 25: a route back to step l keeps the steps 1..l-1.
func (t *Trajectory) Plan() []int {
	var plan []int
	for i := t.EarlierRounds(); i < len(t.Rounds); i++ {
		r := t.Rounds[i]
		if r.Edit != nil {
			plan = indexes(r.Edit.Plan)
		} else {
			plan = append(plan, i)
		}
		if route := r.Route; route != nil && route.Back > 0 && route.Back <= len(plan) {
			plan = plan[:route.Back-1]
		}
	}
	return plan
}

// indexes makes indexes of numbers of rounds.
func indexes(numbers []int) []int {
	var all []int
	for _, n := range numbers {
		all = append(all, n-1)
	}
	return all
}

// LastEdit returns the last part's last edit, or nil.
func (t *Trajectory) LastEdit() *Edit {
	for i := len(t.Rounds) - 1; i >= t.EarlierRounds(); i-- {
		if edit := t.Rounds[i].Edit; edit != nil {
			return edit
		}
	}
	return nil
}

// ToRepeat returns the rounds that are to be run again before the plan goes on.
func (t *Trajectory) ToRepeat() []int {
	if edit := t.LastEdit(); edit != nil {
		return indexes(edit.Rest)
	}
	return nil
}

// AcceptedRounds returns the rounds of the plan whose cell has run: all but
// the one that is under way.
func (t *Trajectory) AcceptedRounds() []int {
	var rounds []int
	for _, i := range t.Plan() {
		if _, ok := t.Rounds[i].Accepted(); ok {
			rounds = append(rounds, i)
		}
	}
	return rounds
}

// DroppedBy returns the index of the round whose route or edit took the step of
// round i out of the plan.
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

// StepOf returns the number that the step of round i had in the plan when it was
// planned.
func (t *Trajectory) StepOf(i int) int { return len(t.UpTo(i).Plan()) + 1 }

// StepTexts returns the texts of the plan's steps.
func (t *Trajectory) StepTexts() []string {
	var texts []string
	for _, i := range t.AcceptedRounds() {
		texts = append(texts, t.Rounds[i].Step)
	}
	return texts
}

// LastScript returns the attempt of the last round that has run: in the paper's
// way the script that the next one is made from.
func (t *Trajectory) LastScript() (Attempt, bool) {
	for i := len(t.Rounds) - 1; i >= 0; i-- {
		if a, ok := t.Rounds[i].Accepted(); ok {
			return a, true
		}
	}
	return Attempt{}, false
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
	return n > t.EarlierRounds() && t.Rounds[n-1].Verdict != nil && t.Rounds[n-1].Verdict.Sufficient && t.Rounds[n-1].Route == nil
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
	switch {
	case t.Proof != nil && !t.Proof.Same:
		why = append(why, t.Proof.Reason)
	case t.Proof == nil && t.Answer() != "" && t.Ended:
		why = append(why, "it was not proved as it is now")
	}
	return why
}

// Steps returns the number of accepted steps in the plan.
func (t *Trajectory) Steps() int { return len(t.AcceptedRounds()) }

// A Variable is an object that somebody's session had before the run, under its
// name. Once a cell has read it, it has an Import, a File or a Problem.
type Variable struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`    // its description; "" for functions and classes
	Import  string `json:"import,omitempty"`  // the statement that gives a session what has this name
	File    string `json:"file,omitempty"`    // with what was pickled before the first cell read it, below the run folder
	Bytes   int64  `json:"bytes,omitempty"`   // of that file
	Problem string `json:"problem,omitempty"` // why a fresh session cannot have it
}

// RoundsLeft is how many rounds may still be begun: a person's turn makes room.
func (t *Trajectory) RoundsLeft(most int) int {
	for i := len(t.Rounds) - 1; i >= t.EarlierRounds() && t.Rounds[i].Edit == nil; i-- {
		most--
	}
	return most
}

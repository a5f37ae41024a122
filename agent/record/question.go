package record

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/lists"
)

// A Question is one of a run, with what came of it.
type Question struct {
	Text       string  `json:"question"`
	Guidelines string  `json:"guidelines,omitempty"` // the form of the answer
	Limits     Limits  `json:"limits,omitzero"`
	Past       []Round `json:"past,omitempty"`  // until a change, with persons' turns
	Anew       int     `json:"anew,omitempty"`  // how often a person took steps away and wants others
	Start      *Start  `json:"start,omitempty"` // where it begins again; nil: with its first step
	Rest       []Round `json:"rest,omitempty"`  // cells of Start that are still to run again
	Rounds     []Round `json:"rounds"`

	Definitions []Definition `json:"definitions,omitempty"` // that its requests show

	Corrects []int     `json:"corrects,omitempty"` // numbers of questions whose answers it replaces
	Final    *Final    `json:"final,omitempty"`
	Readings []Reading `json:"readings,omitempty"`
	Second   *Second   `json:"second,omitempty"` // nil: not derived yet
	Proof    *Proof    `json:"proof,omitempty"`
}

// A Start is where a question begins again: the notebook as a person left it.
type Start struct {
	Number   int       `json:"number"`          // of the person's turn among the rounds
	What     []string  `json:"what"`            // the person did, in words
	Given    []Round   `json:"given,omitempty"` // its steps, with no more than their last attempt
	Last     string    `json:"last,omitempty"`  // the last cell, which runs again if a person wrote it
	ByHand   bool      `json:"by_hand,omitempty"`
	Readings []Reading `json:"readings,omitempty"`
	Less     bool      `json:"less,omitempty"`    // a person took steps away, and wants others
	Ordered  bool      `json:"ordered,omitempty"` // a person chose the order: nothing is dropped
	Steps    bool      `json:"steps,omitempty"`   // other cells: they may take other readings
}

// Limits bound how a question is answered. It is retraced within those that it had.
type Limits struct {
	Rounds int `json:"rounds"`          // steps that are tried at most
	Tries  int `json:"tries"`           // repairs of a cell
	Again  int `json:"again,omitempty"` // more of the last one, which gave no answer before
}

// A Round is one turn of the loop: a step is planned, its cell is tried until it runs, the plan is
// judged, and if it does not suffice a route is chosen.
type Round struct {
	Number   int       `json:"number"` // among those of the question, from 1
	Place    int       `json:"place"`  // that its step had in the plan when it was planned, from 1
	Step     string    `json:"step"`
	Attempts []Attempt `json:"attempts"`
	Verdict  *Verdict  `json:"verdict,omitempty"` // nil until judged
	Answer   string    `json:"answer,omitempty"`  // the last cell that came with the verdict
	Route    *Route    `json:"route,omitempty"`   // nil until chosen
	Dropped  int       `json:"dropped,omitempty"` // the round that took its step out of the plan
	Why      string    `json:"why,omitempty"`     // it did

	Given  bool `json:"given,omitempty"`   // a person left its cell in the notebook, which ran again
	ByHand bool `json:"by_hand,omitempty"` // a person wrote the cell, or changed it

	By []string `json:"by,omitempty"` // of a person's turn, which is nothing else: what was done
}

// An Attempt is one try at a step's cell.
type Attempt struct {
	Code      string             `json:"code"`
	Execution notebook.Execution `json:"execution"`
	Kept      bool               `json:"kept,omitempty"` // it raised, and stays: a baseline's
	Rows      []string           `json:"rows,omitempty"` // what a program counted, a line each
}

// WarningMark begins a line on rows that tells what can make an answer wrong.
const WarningMark = "! "

// Warned returns the number of warnings among the lines on rows.
func (a Attempt) Warned() int {
	warns := func(line string) bool { return strings.HasPrefix(line, WarningMark) }
	return len(lists.Where(a.Rows, warns))
}

// A Verdict is the verifier's judgement of plan, code and results. An inconclusive one is
// sufficient: the plan has shown that the data hold no answer.
type Verdict struct {
	Sufficient   bool   `json:"sufficient"`
	Unfinished   bool   `json:"unfinished,omitempty"` // insufficient, but every step is right so far
	Inconclusive bool   `json:"inconclusive,omitempty"`
	Disputes     int    `json:"disputes,omitempty"`   // a person's step in its way, which stays
	Reason       string `json:"reason,omitempty"`     // what is missing, or why it suffices
	Warnings     string `json:"warnings,omitempty"`   // why those of rows do not change the answer
	Unanswered   bool   `json:"unanswered,omitempty"` // it does not say so of each
}

// Word returns the verdict in the words of the judge.
func (v Verdict) Word() string {
	switch {
	case v.Inconclusive:
		return "no answer"
	case v.Sufficient:
		return "enough"
	case v.Unfinished:
		return "go on"
	}
	return "not enough"
}

// A Route is the router's decision after an insufficient verdict: Back is 0 for Add Step, and l
// when step l is wrong, which drops the steps from l on.
type Route struct {
	Back   int    `json:"back"`
	Reason string `json:"reason,omitempty"`
}

// Last returns the last round; nil if there is none.
func (q *Question) Last() *Round {
	if n := len(q.Rounds); n > 0 {
		return &q.Rounds[n-1]
	}
	return nil
}

// Begin begins a round with a step.
func (q *Question) Begin(step string) *Round {
	q.Rounds = append(q.Rounds, Round{Number: q.Count() + 1, Place: len(q.Plan()) + 1, Step: step})
	return q.Last()
}

// Take takes a route after the last round (Algorithm 1, lines 18 to 25): back to step l, it keeps
// the steps 1..l-1.
func (q *Question) Take(route Route) {
	last := q.Last()
	last.Route = &route
	if plan := q.Plan(); route.Back > 0 && route.Back <= len(plan) {
		for _, r := range plan[route.Back-1:] {
			r.Dropped, r.Why = last.Number, route.Reason
		}
		q.Readings = restated(q.Readings) // what decided some is no longer there
	}
}

// Plan returns the rounds whose steps make up the plan.
func (q *Question) Plan() (plan []*Round) {
	for i := range q.Rounds {
		if q.Rounds[i].Dropped == 0 {
			plan = append(plan, &q.Rounds[i])
		}
	}
	return plan
}

// Accepted returns the rounds of the plan whose cell has run.
func (q *Question) Accepted() []*Round {
	return slices.DeleteFunc(q.Plan(), func(r *Round) bool { return !r.Accepted().IsCell() })
}

// Drawn returns the rounds whose cells the notebook has: those that were accepted, and those that a
// person left and that are still to run again. If every one is a whole script, only the last
// counts, and none once there is a final script.
func (q *Question) Drawn(scripts bool) []*Round {
	shown := q.Accepted()
	for i := range q.Rest {
		shown = append(shown, &q.Rest[i])
	}
	if scripts && q.FinalCell().IsCell() {
		return nil
	} else if scripts {
		return shown[max(0, len(shown)-1):]
	}
	return shown
}

// Ever returns all rounds that there were, persons' turns among them.
func (q *Question) Ever() []Round { return slices.Concat(q.Past, q.Rounds) }

// Count returns the number of rounds that there were, persons' turns among them.
func (q *Question) Count() (n int) {
	for _, r := range q.Ever() {
		n = max(n, r.Number)
	}
	return n
}

// RoundsLeft returns how many more rounds may begin. Cells that a person left do not count.
func (q *Question) RoundsLeft(most int) int {
	for _, r := range q.Rounds {
		if !r.Given {
			most--
		}
	}
	return most
}

// Mine returns the number of the first step of the plan, from step from on, whose cell a person
// wrote; 0 if there is none, or if from is 0.
func (q *Question) Mine(from int) int {
	for n, r := range q.Accepted() {
		if from > 0 && n+1 >= from && r.ByHand {
			return n + 1
		}
	}
	return 0
}

// Steps returns the number of accepted steps in the plan.
func (q *Question) Steps() int { return len(q.Accepted()) }

// final returns what there is of the last cell.
func (q *Question) final() Final { return *cmp.Or(q.Final, &Final{}) }

// FinalCell returns the accepted last cell; the zero one if there is none.
func (q *Question) FinalCell() Attempt { return Accepted(q.final().Attempts) }

// Accepted returns the attempt that ran without an error; the zero one if there is none.
func (r Round) Accepted() Attempt { return Accepted(r.Attempts) }

// Accepted returns the last attempt if it is a cell of the notebook; otherwise the zero one.
func Accepted(attempts []Attempt) (last Attempt) {
	if n := len(attempts); n > 0 && attempts[n-1].IsCell() {
		last = attempts[n-1]
	}
	return last
}

// IsCell reports whether the attempt ran, and thus is a cell of the notebook. The zero one did not.
func (a Attempt) IsCell() bool { return a.Execution.Status == notebook.OK || a.Kept }

// Answer returns the answer, or "" if there is none.
func (q *Question) Answer() string { return q.final().Answer }

// Summary returns the answer in sentences, or "" if there are none.
func (q *Question) Summary() string { return q.final().Summary }

// Judged returns the verdict of the last round; nothing if there is none.
func (q *Question) Judged() (v Verdict) {
	if last := q.Last(); last != nil && last.Verdict != nil {
		v = *last.Verdict
	}
	return v
}

// Sufficient reports whether the judge found the plan sufficient and no step was dropped since.
func (q *Question) Sufficient() bool {
	return q.Judged().Sufficient && len(q.Rest) == 0 && q.Last().Route == nil
}

// Inconclusive reports whether the judge found that the data hold no answer.
func (q *Question) Inconclusive() bool { return q.Sufficient() && q.Judged().Inconclusive }

// Edits describes what a person has changed that was not carried out yet.
func (q *Question) Edits() []string {
	last := q.Last()
	if q.Start == nil || len(q.Rest) == 0 && last != nil && (!last.Given || last.Verdict != nil) {
		return nil
	}
	return q.Start.What
}

// Again returns the start with which the question begins again from the cells that it has.
func (q *Question) Again(what ...string) *Start {
	s := &Start{What: what, Readings: restated(q.Readings)}
	for n, r := range q.Drawn(false) {
		s.Given = append(s.Given, Round{Number: r.Number, Place: n + 1, Step: r.Step,
			Attempts: withoutOutputs(r.Attempts[len(r.Attempts)-1:]), Verdict: r.Verdict, Given: true,
			ByHand: r.ByHand})
	}
	if a := q.FinalCell(); a.IsCell() {
		s.Last, s.ByHand = a.Code, q.Final.ByHand
	} else if q.Final == nil && q.Start != nil && q.Start.ByHand { // it has not run yet
		s.Last, s.ByHand = q.Start.Last, true
	}
	return s
}

// Restart has the question begin again from a start.
func (q *Question) Restart(start *Start) {
	start.Number = q.Count() + 1
	for _, given := range start.Given {
		start.Number = max(start.Number, given.Number+1)
		for _, r := range q.Drawn(false) {
			if r.Number == given.Number { // its cell shows what it gives
				r.Attempts = withoutOutputs(r.Attempts)
			}
		}
	}
	q.Past, q.Start = append(q.Ever(), Round{Number: start.Number, By: start.What}), start
	if start.Less {
		q.Anew++
	}
	q.Rewind()
}

// withoutOutputs returns attempts, of which there are some, without the outputs of the last.
func withoutOutputs(attempts []Attempt) []Attempt {
	attempts = slices.Clone(attempts)
	attempts[len(attempts)-1].Execution.Outputs = nil
	return attempts
}

// WithoutShown returns a copy of the question without the outputs that cells show.
func (q *Question) WithoutShown(scripts bool) *Question {
	bare := *q
	bare.Rounds, bare.Rest = slices.Clone(q.Rounds), slices.Clone(q.Rest)
	for _, r := range bare.Drawn(scripts) {
		r.Attempts = withoutOutputs(r.Attempts)
	}
	if q.FinalCell().IsCell() {
		final := *q.Final
		bare.Final, final.Attempts = &final, withoutOutputs(final.Attempts)
	}
	return &bare
}

// Rewind leaves of the question what a person has left, to be answered from there: all else is in
// the journal.
func (q *Question) Rewind() {
	s := cmp.Or(q.Start, &Start{})
	*q = Question{Text: q.Text, Guidelines: q.Guidelines, Limits: q.Limits, Past: q.Past, Anew: q.Anew,
		Start: q.Start, Rest: slices.Clone(s.Given), Readings: restated(s.Readings)}
	if n := len(q.Rest); n > 0 {
		q.Rest[n-1].Verdict = nil // on the plan, which is judged anew
	}
	if s.Last != "" {
		q.Final = s.Final()
	}
}

// Final returns the last cell, which is still to run.
func (s Start) Final() *Final {
	return &Final{Derived: Derived{Attempts: Left(s.Last)}, ByHand: s.ByHand}
}

// Left returns the attempt of a cell that a person has left in the notebook, which is still to run.
func Left(code string) []Attempt {
	ran := notebook.Execution{Status: notebook.OK, Outputs: []notebook.Output{}}
	return []Attempt{{Code: code, Execution: ran}}
}

// NotRun reports whether a person did not let the attempt run.
func (a Attempt) NotRun() bool { return a.Execution.Status == notebook.NotRun }

// Rejected reports whether a person did not let the round's step run.
func (r Round) Rejected() bool { return slices.ContainsFunc(r.Attempts, Attempt.NotRun) }

// ResultText returns the value of a cell's last expression as text: the content of a string, and
// the representation of anything else. ok is false if the cell ends without an expression.
func ResultText(e notebook.Execution) (text string, ok bool) {
	for _, o := range slices.Backward(e.Outputs) {
		if o.Type == notebook.ExecuteResult {
			return unrepr(o.PlainText()), true
		}
	}
	return "", false
}

// SummaryOf returns the sentences that the last cell ends with, or "".
func SummaryOf(e notebook.Execution) string {
	text, _ := ResultText(e)
	if text = strings.TrimSpace(text); !strings.Contains(text, " ") {
		return ""
	}
	return text
}

// Take takes answer and summary from what the last cell gave. A summary without a figure of the
// answer, which is returned, is left out.
func (f *Final) Take(e notebook.Execution) (missing string) {
	f.Answer, f.Summary = strings.TrimSpace(e.Stdout()), SummaryOf(e)
	if missing = compare.Missing(f.Answer, f.Summary); missing != "" {
		f.Summary = ""
	}
	return missing
}

// escapes turns escapes of Python's repr into those of JSON.
var escapes = strings.NewReplacer(`\\`, `\\`, `\x`, `\u00`, `\'`, `\u0027`)

// unrepr returns the string that Python's repr made text from, or text if it is not the repr of
// one string.
func unrepr(text string) string {
	n := len(text)
	if n < 2 || text[0] != text[n-1] || text[0] != '\'' && text[0] != '"' {
		return text
	}
	inner := escapes.Replace(text[1 : n-1])
	plain, err := strconv.Unquote(`"` + strings.ReplaceAll(inner, `"`, `\"`) + `"`)
	if err != nil || strings.IndexByte(inner, text[0]) >= 0 { // two literals, or none
		return text
	}
	return plain
}

package rerun

import (
	"fmt"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/compare"
)

// Tolerance is the default. It covers differences in the last digits of floats between processors
// and libraries, and in where iterations stop. A relevant change is larger.
const Tolerance = 1e-9

// A verdict is the result of checking a cell.
type verdict string

const (
	same    verdict = "same"
	differs verdict = "differs"
	failed  verdict = "error"   // it fails now and did not before
	notRun  verdict = "not run" // now or in the record: there is nothing to compare
)

// A checkedCell is one cell of a check, or an attempt of a round, as --json shows it.
type checkedCell struct {
	Index       int                  `json:"index"` // -1: it is of a round
	ID          string               `json:"id"`
	Round       int                  `json:"round"` // of a run of dsstar; 0: none
	Attempt     int                  `json:"attempt,omitempty"`
	Verdict     verdict              `json:"verdict"`
	Reason      string               `json:"reason"` // of error and not run
	Differences []compare.Difference `json:"differences"`
	Text        string               `json:"text,omitempty"` // of an attempt's outputs

	label, title string
}

// check compares a cell with the record.
func (r *rerun) check(s *step) checkedCell {
	c := checkedCell{Index: s.cell, ID: s.id, Attempt: s.attempt, Differences: []compare.Difference{},
		label: fmt.Sprintf("cell %d", s.cell+1), title: firstLine(s.code)}
	if s.attempt > 0 {
		c.Round, c.label = r.Round, fmt.Sprintf("try %d", s.attempt)
	} else if c.Round = recordOf(r.nb.Cells[s.cell]).Round; c.Round > 0 {
		c.title = fmt.Sprintf("round %d: %s", c.Round, c.title)
	}
	if s.is != nil && s.attempt > 0 {
		c.Text, c.title = s.is.PlainText(), ended(*s.is)
	}
	c.Verdict, c.Reason = r.verdict(s, &c.Differences)
	return c
}

// verdict judges a cell, and adds how its outputs differ. Those of a cell that was stopped depend
// on timing.
func (r *rerun) verdict(s *step, found *[]compare.Difference) (v verdict, reason string) {
	switch {
	case s.is == nil:
		return notRun, "the run had ended before it"
	case s.was == nil && outcome(*s.is) == notebook.OK:
		return notRun, "the notebook has no outputs of it"
	case s.was == nil:
		return failed, problem(*s.is)
	}
	is, was := outcome(*s.is), outcome(*s.was)
	switch {
	case is != was && is != notebook.OK && s.attempt == 0:
		return failed, problem(*s.is)
	case is != was:
		return differs, "in the record it " + ended(*s.was)
	case is == notebook.OK || is == notebook.Raised:
		*found = append(*found, compare.Outputs(s.was.Outputs, s.is.Outputs, r.Tolerance)...)
	}
	if len(*found) > 0 {
		return differs, ""
	}
	return same, ""
}

// outcome is how a cell ended. One that ran but was rejected counts as OK.
func outcome(x notebook.Execution) notebook.Status {
	if _, raised := x.Error(); x.Status == notebook.Raised && !raised && x.Reason != "" {
		return notebook.OK
	}
	return x.Status
}

// ended says how a cell ended.
func ended(x notebook.Execution) string {
	if outcome(x) == notebook.OK {
		return "ran"
	}
	return problem(x)
}

// sameAnswer compares the answer to a question with the recorded one.
type sameAnswer struct {
	Question string `json:"question"`
	Same     bool   `json:"same"`
	Was      string `json:"was"`
	Is       string `json:"is"` // "": there is none

	part int // the number of the question, from 1
}

// findAnswers compares the answers with the recorded ones.
func (r *rerun) findAnswers() (all []sameAnswer) {
	printed := func(text string) []notebook.Output {
		return []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}
	}
	for _, s := range r.steps {
		record := recordOf(r.nb.Cells[s.cell])
		if !r.place.own || record.Role != "final" || s.was == nil ||
			strings.TrimSpace(s.was.Stdout()) == "" {
			continue
		}
		now := notebook.Execution{Outputs: r.nb.Cells[s.cell].Outputs}
		is := sameAnswer{Was: strings.TrimSpace(s.was.Stdout()), Is: strings.TrimSpace(now.Stdout()),
			part: record.Part}
		if questions := r.place.run.Questions; record.Part <= len(questions) {
			is.Question = questions[record.Part-1].Text
		}
		is.Same = len(compare.Outputs(printed(is.Was), printed(is.Is), r.Tolerance)) == 0
		all = append(all, is)
	}
	return all
}

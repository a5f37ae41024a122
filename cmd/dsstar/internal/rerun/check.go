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

	title string
}

// judges reports whether the cells are compared with the record. Without --check, only how the
// attempts of a round end is.
func (r *rerun) judges() bool { return r.Check || r.Round != nil }

// check compares the cells with the record.
func (r *rerun) check() {
	r.result.Checked = []checkedCell{}
	for _, s := range r.steps {
		if s.cell < 0 || s.cell != r.place.added { // that of --data or --parameters is new
			c := r.checkStep(s)
			r.changed = r.changed || c.Verdict == differs || c.Verdict == failed && s.was != nil
			r.result.Checked = append(r.result.Checked, c)
		}
	}
}

func (r *rerun) checkStep(s *step) checkedCell {
	c := checkedCell{Index: s.cell, ID: s.id, Attempt: s.attempt, Verdict: same,
		Differences: []compare.Difference{}, title: firstLine(s.code)}
	if s.cell >= 0 {
		if c.Round = recordOf(r.nb.Cells[s.cell]).Round; c.Round > 0 {
			c.title = fmt.Sprintf("round %d: %s", c.Round, c.title)
		}
	} else if c.Round = *r.Round; s.is != nil {
		c.Text, c.title = s.is.PlainText(), ended(*s.is)
	}
	switch {
	case s.is == nil:
		c.Verdict, c.Reason = notRun, "the run had ended before it"
		return c
	case s.was == nil && outcome(*s.is) == notebook.OK:
		c.Verdict, c.Reason = notRun, "the notebook has no outputs of it"
		return c
	case s.was == nil:
		c.Verdict, c.Reason = failed, problem(*s.is)
		return c
	}
	is, was := outcome(*s.is), outcome(*s.was)
	// The outputs of a cell that was stopped depend on timing.
	if r.Check && (s.cell >= 0 || is == was && (is == notebook.OK || is == notebook.Raised)) {
		found := compare.Outputs(s.was.Outputs, s.is.Outputs, r.Tolerance)
		c.Differences = append(c.Differences, found...)
	}
	switch {
	case is != was && is != notebook.OK && s.cell >= 0:
		c.Verdict, c.Reason = failed, problem(*s.is)
	case is != was && s.attempt > 0:
		c.Verdict, c.Reason = differs, "in the record it "+ended(*s.was)
	case len(c.Differences) > 0:
		c.Verdict = differs
	}
	return c
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
	if !r.place.own {
		return nil
	}
	questions := r.place.runOf(r.nb).Questions
	text := func(s string) []notebook.Output {
		return []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: s}}
	}
	for _, s := range r.steps {
		c := r.nb.Cells[s.cell]
		record := recordOf(c)
		if record.Role != "final" || s.was == nil || strings.TrimSpace(s.was.Stdout()) == "" {
			continue
		}
		is := sameAnswer{Was: strings.TrimSpace(s.was.Stdout()),
			Is: strings.TrimSpace(notebook.Execution{Outputs: c.Outputs}.Stdout()), part: record.Part}
		if record.Part <= len(questions) {
			is.Question = questions[record.Part-1].Text
		}
		is.Same = len(compare.Outputs(text(is.Was), text(is.Is), r.Tolerance)) == 0
		all = append(all, is)
	}
	return all
}

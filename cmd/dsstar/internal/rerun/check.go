package rerun

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dsstar/agent/files"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/human"
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

// A checkedCell is one cell of a check, as --json shows it.
type checkedCell struct {
	Index       int                  `json:"index"`
	ID          string               `json:"id"`
	Round       int                  `json:"round"` // of a run of dsstar; 0: none
	Verdict     verdict              `json:"verdict"`
	Reason      string               `json:"reason"` // of error and not run
	Differences []compare.Difference `json:"differences"`
}

// A cellRun is the recorded execution of a cell.
type cellRun struct {
	outputs []notebook.Output
	count   int
}

// recordedRuns returns the recorded executions, by position.
func recordedRuns(nb *notebook.Notebook) map[int]cellRun {
	runs := map[int]cellRun{}
	for i, c := range nb.Cells {
		runs[i] = cellRun{outputs: c.Outputs, count: c.ExecutionCount}
	}
	return runs
}

// ran reports whether the cell was executed.
func (c cellRun) ran() bool { return c.count > 0 || len(c.outputs) > 0 }

// raised reports whether the cell raised an exception.
func (c cellRun) raised() bool {
	_, raised := notebook.Execution{Outputs: c.outputs}.Error()
	return raised
}

// checkCells compares the outputs of the cells with the record.
func (r *rerun) checkCells() {
	r.result.Checked = []checkedCell{}
	for _, i := range r.todo {
		if i == r.place.added {
			continue // the cell of --data or --parameters
		}
		r.result.Checked = append(r.result.Checked, r.checkCell(i))
	}
}

func (r *rerun) checkCell(i int) checkedCell {
	c := r.nb.Cells[i]
	is := checkedCell{Index: i, ID: c.ID, Round: recordOf(c).Round, Verdict: same,
		Differences: []compare.Difference{}}
	was, x := r.recorded[i], r.runs[i]
	switch {
	case x == nil:
		is.Verdict, is.Reason = notRun, "the run had ended before it"
		return is
	case x.Status != notebook.OK && !(x.Status == notebook.Raised && was.raised()):
		is.Verdict, is.Reason = failed, problemOf(*x)
	case !was.ran():
		is.Verdict, is.Reason = notRun, "the notebook has no outputs of it"
		return is
	}
	if was.ran() {
		is.Differences = append(is.Differences, compare.Outputs(was.outputs, c.Outputs, r.Tolerance)...)
	}
	if len(is.Differences) > 0 && is.Verdict == same {
		is.Verdict = differs
	}
	return is
}

// problemOf says in one line why a cell failed.
func problemOf(x notebook.Execution) string {
	f := failedCell{Status: x.Status, Reason: x.Reason}
	if e, ok := x.Error(); ok {
		f.EName, f.EValue = e.EName, e.EValue
	}
	return f.problem()
}

// changed reports whether anything differs from the record. A failed cell counts if it ran before.
func (r *rerun) changed() bool {
	for _, c := range r.result.Checked {
		if c.Verdict == differs || c.Verdict == failed && r.recorded[c.Index].ran() {
			return true
		}
	}
	return slices.ContainsFunc(r.result.Answers, func(a sameAnswer) bool { return !a.Same })
}

// reportCheck prints the verdicts, cell by cell.
func (r *rerun) reportCheck(w io.Writer) error {
	var b strings.Builder
	found := map[verdict]int{}
	for _, c := range r.result.Checked {
		found[c.Verdict]++
		title := firstLine(r.nb.Cells[c.Index].Source)
		if c.Round > 0 {
			title = fmt.Sprintf("round %d: %s", c.Round, title)
		}
		label := fmt.Sprintf("cell %d", c.Index+1)
		fmt.Fprintln(&b, checkLine(label, string(c.Verdict), title))
		reportDifferences(&b, c.Reason, c.Differences)
	}
	var parts []string
	for _, v := range []verdict{same, differs, failed, notRun} {
		if n := found[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	fmt.Fprintf(&b, "checked  %s in %.1f s: %s\n", human.Plural(len(r.result.Checked), "cell"),
		r.result.Seconds, strings.Join(parts, ", "))
	for _, line := range answerLines(r.result.Answers) {
		fmt.Fprintln(&b, line)
	}
	for _, s := range files.Databases(r.place.runOf(r.nb).Task.Sources) {
		if found[differs]+found[failed] > 0 {
			fmt.Fprintf(&b, "data     %s may have changed since\n", term.Clean(s.String()))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// reportDifferences prints differences below their cell or attempt.
func reportDifferences(b *strings.Builder, reason string, differences []compare.Difference) {
	const indent = "         "
	if reason != "" {
		fmt.Fprintf(b, "%s%s\n", indent, reason)
	}
	for _, d := range differences {
		fmt.Fprintf(b, "%s%s:\n", indent, term.Clean(d.What))
		for line := range strings.Lines(d.Diff) {
			fmt.Fprintf(b, "%s%s\n", indent, term.Clean(strings.TrimRight(line, "\n")))
		}
	}
}

// checkLine formats a line of at most 100 columns: label, verdict and a text.
func checkLine(label, word, text string) string {
	begin := fmt.Sprintf("%-8s %-8s", label, word)
	return begin + " " + term.Fit(term.Printed(text), 99-len(begin))
}

// firstLine returns the first non-empty line of a cell, with … if there are more.
func firstLine(source string) string {
	first, more, _ := strings.Cut(strings.TrimSpace(source), "\n")
	if strings.TrimSpace(more) != "" {
		first += " …"
	}
	return term.Printed(first)
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
	for at, c := range r.nb.Cells {
		record := recordOf(c)
		was := strings.TrimSpace(notebook.Execution{Outputs: r.recorded[at].outputs}.Stdout())
		if c.Type != notebook.Code || record.Role != "final" || was == "" {
			continue
		}
		is := sameAnswer{Was: was,
			Is: strings.TrimSpace(notebook.Execution{Outputs: c.Outputs}.Stdout()), part: record.Part}
		if record.Part <= len(questions) {
			is.Question = questions[record.Part-1].Text
		}
		is.Same = len(compare.Outputs(text(was), text(is.Is), r.Tolerance)) == 0
		all = append(all, is)
	}
	return all
}

// concludeCheck prints the result of a check, and returns an error that carries the exit code.
func (a *Runner) concludeCheck(r *rerun) error {
	r.show.close()
	var err error
	if r.JSON {
		err = term.JSON(a.Stdout, r.result)
	} else {
		err = r.reportCheck(a.Stdout)
	}
	switch {
	case err != nil:
		return err
	case r.changed():
		return ErrDiffers
	case r.result.Failed != nil:
		return fmt.Errorf("%s", r.result.Failed)
	}
	return nil
}

package rerun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

// Result is the object that --json prints. Its fields are a contract: see the help.
type Result struct {
	Notebook string        `json:"notebook"`
	Out      string        `json:"out"`
	Round    int           `json:"round,omitempty"`
	Step     string        `json:"step,omitempty"`
	Cells    int           `json:"cells"`
	Executed int           `json:"executed"`
	Failed   *failedCell   `json:"failed"`
	Seconds  float64       `json:"seconds"`
	Kernel   string        `json:"kernel"`
	Checked  []checkedCell `json:"checked,omitempty"`
	Answers  []sameAnswer  `json:"answers,omitempty"`
}

// A failedCell is the cell that ended the run.
type failedCell struct {
	Index  int             `json:"index"` // -1: it is of a round
	ID     string          `json:"id"`
	Status notebook.Status `json:"status"`
	Reason string          `json:"reason"`

	step *step
}

// A FailedError reports a notebook whose run ended with a failed cell.
type FailedError struct {
	Text  string
	Hints []usage.Hint
}

func (e *FailedError) Error() string { return e.Text }

// conclude prints the result of a run that ended with err, and returns an error that carries the
// exit code.
func (r *rerun) conclude(err error) error {
	if err == nil && r.result.Failed == nil {
		r.show.show("done     %s in %.1f s", human.Plural(r.result.Executed, "cell"), r.result.Seconds)
	}
	for _, line := range r.answerLines() {
		r.show.show("%s", line)
	}
	r.show.show("")
	r.show.Stop()
	r.result.Out, r.result.Cells = r.out.shown, len(r.steps)
	upTo := ""
	if r.out.written {
		upTo = "\nthe notebook up to there: " + r.out.shown
	}
	written := r.print(err != nil)
	switch {
	case errors.Is(err, context.Canceled): // the error says only that it was interrupted
		if upTo != "" {
			fmt.Fprintln(r.Stderr, upTo[1:])
		}
		return err
	case err != nil:
		return fmt.Errorf("%w%s", err, upTo)
	case written != nil:
		return written
	case r.Check && r.changed:
		return ErrDiffers
	case r.result.Failed != nil:
		return r.failure(upTo)
	case r.Round != nil && r.changed:
		return errors.New("an attempt did not end as recorded")
	}
	return nil
}

// print writes to standard output what the command gives. A check that is unfinished has no result.
func (r *rerun) print(unfinished bool) (err error) {
	switch {
	case r.judges() && unfinished:
	case r.JSON:
		return ui.JSON(r.Stdout, r.result)
	case r.judges():
		_, err = io.WriteString(r.Stdout, r.report())
	case r.out.shown == "-":
		var data []byte
		if data, err = r.nb.Encode(); err == nil {
			_, err = r.File.Write(data)
		}
	case r.out.written:
		_, err = fmt.Fprintln(r.Stdout, r.out.shown)
	}
	return err
}

// failure says which cell ended the run, and how to let cells write beside the notebook, if that is
// why.
func (r *rerun) failure(upTo string) error {
	s, home := r.result.Failed.step, r.place.home
	e := &FailedError{Text: fmt.Sprintf("cell %d: %s%s", s.cell+1, r.result.Failed.Reason, upTo)}
	if s.cell < 0 {
		e.Text = fmt.Sprintf("cannot rebuild the session before round %d: %s", *r.Round,
			r.result.Failed.Reason)
	}
	if !r.place.own && strings.Contains(s.is.PlainText(), "--allow-write "+human.Shell(home)) {
		e.Hints = []usage.Hint{usage.Again("--allow-write", home).Note("if you trust it with that folder")}
	}
	return e
}

// report has the verdicts, cell by cell.
func (r *rerun) report() string {
	var b strings.Builder
	const indent = "         "
	if r.Round != nil {
		fmt.Fprintf(&b, "round %-2d %s\n", *r.Round, ui.Fit(ui.Clean(r.result.Step), 90))
	}
	found := map[verdict]int{}
	for _, c := range r.result.Checked {
		found[c.Verdict]++
		label := fmt.Sprintf("cell %d", c.Index+1)
		if c.Attempt > 0 {
			label = fmt.Sprintf("try %d", c.Attempt)
		}
		label = fmt.Sprintf("%-8s %-8s", label, c.Verdict)
		fmt.Fprintf(&b, "%s %s\n", label, ui.Fit(ui.Clean(c.title), 99-len(label)))
		if c.Reason != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, c.Reason)
		}
		for _, d := range c.Differences {
			fmt.Fprintf(&b, "%s%s:\n", indent, ui.Clean(d.What))
			for line := range strings.Lines(d.Diff) {
				fmt.Fprintf(&b, "%s%s\n", indent, ui.Clean(strings.TrimRight(line, "\n")))
			}
		}
	}
	if r.Round != nil {
		return b.String()
	}
	var parts []string
	for _, v := range []verdict{same, differs, failed, notRun} {
		if n := found[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	fmt.Fprintf(&b, "checked  %s in %.1f s: %s\n", human.Plural(len(r.result.Checked), "cell"),
		r.result.Seconds, strings.Join(parts, ", "))
	for _, line := range r.answerLines() {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// answerLines says whether the answers are the same; several are numbered.
func (r *rerun) answerLines() (lines []string) {
	one := func(text string) string { return cmp.Or(ui.Fit(ui.Clean(text), 200), "nothing") }
	for _, a := range r.result.Answers {
		label := "answer  "
		if len(r.result.Answers) > 1 {
			label = fmt.Sprintf("answer %d", a.part)
		}
		if a.Same {
			lines = append(lines, label+" same: "+one(a.Is))
		} else {
			lines = append(lines, label+" differs: was "+one(a.Was)+", is "+one(a.Is))
		}
	}
	return lines
}

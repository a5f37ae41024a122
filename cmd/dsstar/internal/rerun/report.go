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
}

// A FailedError reports a notebook whose run ended with a failed cell.
type FailedError struct {
	Text  string
	Hints []usage.Hint
}

func (e *FailedError) Error() string { return e.Text }

// conclude prints the result of a run that ended with err, and returns an error that carries the
// exit code. A check that is unfinished has no result.
func (r *rerun) conclude(err error) error {
	if err == nil && r.failed == nil {
		r.show.show("done     %s in %.1f s", human.Plural(r.result.Executed, "cell"), r.result.Seconds)
	}
	r.show.show("%s", r.answerLines())
	r.show.Stop()
	r.result.Out, r.result.Cells = r.out.shown, len(r.steps)
	upTo := ""
	if r.out.written {
		upTo = "\nthe notebook up to there: " + r.out.shown
	}
	var written error
	if err == nil || !r.Check {
		written = r.print()
	}
	switch {
	case errors.Is(err, context.Canceled): // the error says only that it was interrupted
		fmt.Fprint(r.Stderr, strings.TrimPrefix(upTo+"\n", "\n"))
		return err
	case err != nil:
		return fmt.Errorf("%w%s", err, upTo)
	case written != nil:
		return written
	case r.Check && r.changed:
		return ErrDiffers
	case r.failed != nil:
		return r.failure(upTo)
	}
	return nil
}

// print writes to standard output what the command gives.
func (r *rerun) print() (err error) {
	switch {
	case r.JSON:
		return ui.JSON(r.Stdout, r.result)
	case r.Check:
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
	reason, home := r.result.Failed.Reason, r.place.home
	e := &FailedError{Text: fmt.Sprintf("cell %d: %s%s", r.failed.cell+1, reason, upTo)}
	if !r.place.own && strings.Contains(r.failed.is.PlainText(), "--allow-write "+human.Shell(home)) {
		hint := usage.Again("--allow-write", home).Note("if you trust it with that folder")
		e.Hints = []usage.Hint{hint}
	}
	return e
}

// report has the verdicts, cell by cell.
func (r *rerun) report() string {
	var b strings.Builder
	const indent = "         "
	if r.Round != 0 {
		fmt.Fprintf(&b, "round %-2d %s\n", r.Round, ui.Fit(ui.Clean(r.result.Step), 90))
	}
	found := map[verdict]int{}
	for _, c := range r.result.Checked {
		found[c.Verdict]++
		label := fmt.Sprintf("%-8s %-8s", c.label, c.Verdict)
		fmt.Fprintf(&b, "%s %s\n", label, ui.Fit(ui.Clean(c.title), 99-len(label)))
		if c.Reason != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, c.Reason)
		}
		for _, d := range c.Differences {
			for line := range strings.Lines(d.What + ":\n" + strings.TrimSuffix(d.Diff, "\n")) {
				fmt.Fprintf(&b, "%s%s\n", indent, ui.Clean(strings.TrimRight(line, "\n")))
			}
		}
	}
	if r.Round != 0 {
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
	return b.String() + r.answerLines()
}

// answerLines says whether the answers are the same; several are numbered.
func (r *rerun) answerLines() (text string) {
	one := func(text string) string { return cmp.Or(ui.Fit(ui.Clean(text), 200), "nothing") }
	for _, a := range r.result.Answers {
		label := "answer  "
		if len(r.result.Answers) > 1 {
			label = fmt.Sprintf("answer %d", a.part)
		}
		if a.Same {
			text += label + " same: " + one(a.Is) + "\n"
		} else {
			text += label + " differs: was " + one(a.Was) + ", is " + one(a.Is) + "\n"
		}
	}
	return text
}

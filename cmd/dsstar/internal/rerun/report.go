package rerun

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
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
	Index  int             `json:"index"`
	ID     string          `json:"id"`
	Status notebook.Status `json:"status"`
	Reason string          `json:"reason"`
}

// conclude returns what a run prints that ended with err, and an error that says what there is. A
// check that is unfinished has no result.
func (r *rerun) conclude(err error) (out cli.Output, _ error) {
	if err == nil && r.failed == nil {
		r.say("done     %s in %.1f s", human.Plural(r.result.Executed, "cell"), r.result.Seconds)
	}
	r.say("%s", r.answerLines())
	r.result.Out, r.result.Cells = r.out.shown, len(r.steps)
	stopped := &usage.Stopped{Err: err}
	switch {
	case r.Check && err == nil:
		out = cli.Output{Value: r.result, Text: r.report}
		if r.changed {
			out.Code = exitDiffers
		}
		return out, nil
	case r.Check:
		return out, stopped
	case r.out.shown == "-":
		data, failed := r.nb.Encode()
		if failed == nil {
			_, failed = r.File.Write(data)
		}
		stopped.Err = cmp.Or(err, failed)
	default:
		out = cli.Text(r.out.shown + "\n")
		out.Value, stopped.Text = r.result, "notebook up to there: "+r.out.shown
	}
	if stopped.Err == nil && r.failed != nil {
		stopped.Err = fmt.Errorf("cell %d: %s", r.failed.cell+1, r.result.Failed.Reason)
		stopped.Hints = r.hints()
	}
	if stopped.Err == nil {
		return out, nil
	}
	return out, stopped
}

// hints says how to let cells write beside the notebook, if the run ended because they may not.
func (r *rerun) hints() (hints []usage.Hint) {
	home := r.place.home
	if !r.place.own && strings.Contains(r.failed.is.PlainText(), "--allow-write "+human.Shell(home)) {
		hints = []usage.Hint{usage.Again("--allow-write", home).Note("if you trust it with that folder")}
	}
	return hints
}

// exitDiffers is the exit code of a check that has found a difference; docs/results.md.
const exitDiffers = 3

// report writes the verdicts, cell by cell.
func (r *rerun) report(b *strings.Builder) {
	const indent = "         "
	if r.Round != 0 {
		fmt.Fprintf(b, "round %-2d %s\n", r.Round, ui.Fit(ui.Clean(r.result.Step), 90))
	}
	found := map[verdict]int{}
	for _, c := range r.result.Checked {
		found[c.Verdict]++
		label := fmt.Sprintf("%-8s %-8s", c.label, c.Verdict)
		fmt.Fprintf(b, "%s %s\n", label, ui.Fit(ui.Clean(c.title), 99-len(label)))
		if c.Reason != "" {
			fmt.Fprintf(b, "%s%s\n", indent, c.Reason)
		}
		for _, d := range c.Differences {
			for line := range strings.Lines(d.What + ":\n" + strings.TrimSuffix(d.Diff, "\n")) {
				fmt.Fprintf(b, "%s%s\n", indent, ui.Clean(strings.TrimRight(line, "\n")))
			}
		}
	}
	if r.Round != 0 {
		return
	}
	var parts []string
	for _, v := range []verdict{same, differs, failed, notRun} {
		if n := found[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	fmt.Fprintf(b, "checked  %s in %.1f s: %s\n%s", human.Plural(len(r.result.Checked), "cell"),
		r.result.Seconds, strings.Join(parts, ", "), r.answerLines())
}

// answerLines says whether the answers are the same; several are numbered.
func (r *rerun) answerLines() (text string) {
	one := func(text string) string { return cmp.Or(ui.Fit(ui.Clean(text), 200), "nothing") }
	for _, a := range r.result.Answers {
		label := "answer  "
		if len(r.result.Answers) > 1 {
			label = fmt.Sprintf("answer %d", a.part)
		}
		said := " same: "
		if !a.Same {
			said = " differs: was " + one(a.Was) + ", is "
		}
		text += label + said + one(a.Is) + "\n"
	}
	return text
}

// say shows lines on stderr, which a check has none of.
func (r *rerun) say(format string, args ...any) {
	if !r.Check || r.Round != 0 {
		r.Progress.Show(fmt.Sprintf(format, args...))
	}
}

// shownBytes is how much is shown of what a cell puts out; the notebook has all of it.
const shownBytes = 8 << 10

// shown is the end of what a cell has put out.
func shown(x notebook.Execution) string {
	text := strings.Trim(x.PlainText(), "\n ")
	return text[max(0, len(text)-shownBytes):]
}

// show shows a cell after which the run goes on, or ends well.
func (r *rerun) show(x notebook.Execution) {
	r.say("%s", shown(x))
	if x.Seconds >= 1 {
		r.say("         %.1f s", x.Seconds)
	}
}

// firstLine returns the first non-empty line of a cell, with … if there are more.
func firstLine(source string) string {
	first, more, _ := strings.Cut(strings.TrimSpace(source), "\n")
	if strings.TrimSpace(more) != "" {
		first += " …"
	}
	return ui.Clean(first)
}

// An outFile is the destination of the executed notebook. It is saved after cells, so that a killed
// run leaves its outputs so far.
type outFile struct {
	shown  string   // as the user named it; "": there is none
	name   string   // in the folder; "": nothing is saved
	folder *os.Root // held open, because cells may replace it
	begun  time.Time
	spent  time.Duration // on saving
}

// newOutFile checks that out is writable: "" stands for the notebook's path with another extension,
// "-" for standard output.
func newOutFile(path, out string) (*outFile, error) {
	o := &outFile{shown: out, begun: time.Now()}
	if out == "-" {
		return o, nil
	}
	if out == "" {
		o.shown = outPath(path)
	}
	target, _, err := usage.Target(out, o.shown, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(target)
	if err = disk.CheckWritable(dir); err == nil {
		o.folder, err = os.OpenRoot(dir)
	}
	if err != nil {
		return nil, usage.New(ui.Printable(err.Error()), usage.Again("--out", "~/"+filepath.Base(target)))
	}
	o.name = filepath.Base(target)
	return o, nil
}

func outPath(path string) string { return strings.TrimSuffix(path, ".ipynb") + ".rerun.ipynb" }

// keep saves the notebook, unless that would take more than a fortieth of the time: of a large one not
// after each cell. The last save reports what is wrong.
func (o *outFile) keep(nb *notebook.Notebook) {
	if begin := time.Now(); 40*o.spent <= begin.Sub(o.begun) {
		_ = o.save(nb)
		o.spent += time.Since(begin)
	}
}

// save saves the notebook. Cells may write there: a link in its place is replaced, not followed.
func (o *outFile) save(nb *notebook.Notebook) error {
	if o.name == "" {
		return nil
	}
	data, err := nb.Encode()
	if err == nil {
		err = disk.WriteFileIn(o.folder, o.name, data)
	}
	if err != nil {
		return fmt.Errorf("write the executed notebook: %w", err)
	}
	return nil
}

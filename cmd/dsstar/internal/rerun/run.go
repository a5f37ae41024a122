package rerun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

// A rerun is one execution of a notebook.
type rerun struct {
	Flags
	place  *place
	k      *checkpoint.Session
	nb     *notebook.Notebook
	out    *outFile
	show   *transcript
	key    record.Key
	begin  time.Time
	todo   []int            // positions of the cells to execute
	cells  map[string]int   // positions of all cells, by id
	shows  map[string][]int // positions of the cells that show a display, by its id
	result Result

	recorded map[int]cellRun             // the recorded outputs, by position
	runs     map[int]*notebook.Execution // of the executed cells
	doing    *progress.Progress          // for a check, which has no transcript
}

// Result is the object that --json prints. Its fields are a contract: see
// the help.
type Result struct {
	Notebook   string           `json:"notebook"`
	Out        string           `json:"out"`
	Cells      int              `json:"cells"`
	Executed   int              `json:"executed"`
	Failed     *failedCell      `json:"failed"`
	Incomplete []incompleteCell `json:"incomplete"`
	Seconds    float64          `json:"seconds"`
	Kernel     kernelInfo       `json:"kernel"`
	Checked    []checkedCell    `json:"checked,omitempty"`
	Answer     *sameAnswer      `json:"answer,omitempty"` // to the last question
	Answers    []sameAnswer     `json:"answers,omitempty"`
}

// A failedCell is the cell that ended the run.
type failedCell struct {
	Index  int             `json:"index"`
	ID     string          `json:"id"`
	Status notebook.Status `json:"status"`
	EName  string          `json:"ename"`
	EValue string          `json:"evalue"`
	Reason string          `json:"reason"` // of a time-out or the kernel's death
}

type incompleteCell struct {
	Index  int    `json:"index"`
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

type kernelInfo struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Version  string `json:"version"`
}

func (k *kernelInfo) of(info kernel.Info) {
	k.Name = info.Name
	k.Language, _ = info.Language["name"].(string)
	k.Version, _ = info.Language["version"].(string)
}

func newRerun(a *Runner, path string, place *place, out *outFile, flags Flags) *rerun {
	r := &rerun{
		Flags: flags, place: place, nb: out.nb, out: out, key: a.Key,
		show:     a.newTranscript(flags.Quiet || flags.Check),
		recorded: recordedRuns(out.nb), runs: map[int]*notebook.Execution{},
		cells: map[string]int{}, shows: map[string][]int{},
		result: Result{Notebook: path, Out: out.shown, Incomplete: []incompleteCell{}},
	}
	for i, c := range r.nb.Cells {
		r.cells[c.ID] = i
		if c.Type == notebook.Code && strings.TrimSpace(c.Source) != "" &&
			!slices.Contains(c.Tags(), "skip-execution") {
			r.todo = append(r.todo, i)
		}
	}
	r.result.Cells = len(r.todo)
	return r
}

// clear removes the outputs of the cells to execute, so that an unfinished notebook shows
// nothing of an earlier run.
func (r *rerun) clear() {
	delete(r.nb.Metadata, "widgets") // states that end with their kernel
	for i := range r.nb.Cells {
		c := &r.nb.Cells[i]
		if c.Type == notebook.Code && !slices.Contains(c.Tags(), "skip-execution") {
			c.Outputs, c.ExecutionCount = nil, 0
			delete(c.Metadata, "execution") // times of an earlier run
		}
	}
}

// run executes the cells. A failed cell is in the result; an error means that the notebook
// could not be written, that the kernel's infrastructure failed, or that ctx was cancelled.
func (r *rerun) run(ctx context.Context) error {
	info := r.k.Info()
	r.clear()
	if info.Language != nil {
		r.nb.Metadata["language_info"] = info.Language
	}
	r.result.Kernel.of(info)

	r.out.start()
	err := r.execute(ctx)
	r.late()
	if err == nil {
		if r.Check {
			r.checkCells()
		}
		r.restate()
	}
	saved := r.out.finish()
	r.result.Seconds = time.Since(r.begin).Seconds()
	if err == nil {
		err = saved
	}
	return err
}

// restate compares the answers, and updates those in the notebook that have changed.
func (r *rerun) restate() {
	r.result.Answers = r.findAnswers()
	now := map[int]string{}
	for i, is := range r.result.Answers {
		if r.result.Answer = &r.result.Answers[i]; !is.Same || r.Data != "" || len(r.Parameters) > 0 {
			now[is.part] = is.Is
		}
	}
	r.out.change(func() {
		if len(now) > 0 {
			page.Restate(r.nb, now)
		}
		if r.place.made && r.place.intact { // nothing that it shows is anybody else's
			r.key.Seal(r.nb)
		}
	})
}

func (r *rerun) execute(ctx context.Context) error {
	for _, i := range r.todo {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x, err := r.cell(ctx, i)
		r.late()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if r.ends(i, x) {
			r.fail(i, x)
			return nil
		}
		r.show.end(x)
	}
	return nil
}

// mayRaise reports whether the run continues after an exception in the cell. A check continues
// if the recorded run had an exception there.
func (r *rerun) mayRaise(i int) bool {
	return r.AllowErrors || slices.Contains(r.nb.Cells[i].Tags(), "raises-exception") ||
		r.Check && r.recorded[i].raised()
}

// ends reports whether the run ends with the cell. The tag raises-exception does not cover
// time-outs.
func (r *rerun) ends(i int, x notebook.Execution) bool {
	switch x.Status {
	case notebook.OK:
		return false
	case notebook.Raised:
		return !r.mayRaise(i)
	}
	return !(r.AllowErrors && x.Status == notebook.TimedOut && r.k.Alive())
}

// cell executes one cell and stores its outputs in the notebook. If ctx is cancelled, the cell is
// interrupted and its outputs so far are kept.
func (r *rerun) cell(ctx context.Context, i int) (notebook.Execution, error) {
	c := r.nb.Cells[i]
	code := c.Source
	if other, ok := r.place.code[i]; ok {
		code = other
	}
	r.result.Executed++
	if r.doing != nil {
		r.doing.Await(fmt.Sprintf("cell %d of %d: %s", r.result.Executed, r.result.Cells,
			firstLine(c.Source)))
	}
	r.show.cell(r.result.Executed, c.Source, r.mayRaise(i))
	within, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	defer context.AfterFunc(ctx, func() {
		r.k.Interrupt()
		time.AfterFunc(obedience, leave)
	})()
	x, err := r.k.ExecuteCell(within,
		kernel.Cell{Code: code, ID: c.ID, MayRaise: r.mayRaise(i), Observe: r.show.output})
	r.out.change(func() { r.keep(i, x) })
	return x, err
}

// obedience is the time that a cell has to end after an interrupt.
const obedience = 2 * time.Second

// keep stores a cell's outputs in the notebook.
func (r *rerun) keep(i int, x notebook.Execution) {
	x.Outputs = r.place.moved(x.Outputs)
	x.Updates = r.place.moved(x.Updates)
	r.runs[i] = &x
	r.redisplay(x.Updates)
	c := &r.nb.Cells[i]
	c.Outputs, c.ExecutionCount = x.Outputs, x.Count
	r.index(i, x.Outputs)
	if x.Incomplete != "" {
		r.result.Incomplete = append(r.result.Incomplete, incompleteCell{i, c.ID, x.Incomplete})
	}
}

// redisplay updates displays of earlier cells.
func (r *rerun) redisplay(updates []notebook.Output) {
	for _, update := range updates {
		for _, earlier := range r.shows[update.DisplayID] {
			notebook.Redisplay(r.nb.Cells[earlier].Outputs, update)
		}
	}
}

// index records which displays a cell shows.
func (r *rerun) index(i int, outputs []notebook.Output) {
	for _, o := range outputs {
		if id := o.DisplayID; id != "" && !slices.Contains(r.shows[id], i) {
			r.shows[id] = append(r.shows[id], i)
		}
	}
}

// late adds outputs that arrived after their cells had ended.
func (r *rerun) late() {
	all := r.k.Late()
	if len(all) == 0 {
		return
	}
	r.out.change(func() {
		for _, l := range all {
			i, ok := r.cells[l.CellID]
			if !ok {
				continue
			}
			c := &r.nb.Cells[i]
			l.Outputs = r.place.moved(l.Outputs)
			l.Updates = r.place.moved(l.Updates)
			for _, o := range l.Outputs {
				c.Outputs = appendOutput(c.Outputs, o)
			}
			r.index(i, l.Outputs)
			r.redisplay(l.Updates)
		}
	})
	for _, l := range all {
		r.show.late(l.Outputs)
	}
}

// appendOutput appends an output; text continues a preceding output of the same stream.
func appendOutput(outputs []notebook.Output, o notebook.Output) []notebook.Output {
	if n := len(outputs) - 1; n >= 0 && o.Type == notebook.Stream && outputs[n].Type == o.Type &&
		outputs[n].Name == o.Name {
		outputs[n].Text += o.Text
		return outputs
	}
	return append(outputs, o)
}

// fail records the cell that ends the run and shows it.
func (r *rerun) fail(i int, x notebook.Execution) {
	e, _ := x.Error()
	c := r.nb.Cells[i]
	r.result.Failed = &failedCell{Index: i, ID: c.ID, Status: x.Status, EName: e.EName,
		EValue: e.EValue, Reason: x.Reason}
	if r.doing != nil {
		r.doing.Stop()
	}
	title := fmt.Sprintf("cell %d of %s, In [%d]:", i+1,
		term.Printable(filepath.Base(r.result.Notebook)), x.Count)
	r.show.failure(title, c.Source)
}

// A FailedError reports a notebook whose run ended with a failed cell.
type FailedError struct {
	Text  string
	Hints []usage.Hint
}

func (e *FailedError) Error() string { return e.Text }

// writeHints says how to let cells write beside the notebook, if that is why one failed.
func (r *rerun) writeHints() []usage.Hint {
	f, home := r.result.Failed, r.place.home
	x := r.runs[f.Index]
	if r.place.own || x == nil ||
		!strings.Contains(x.PlainText(), "--allow-write "+human.Shell(home)) {
		return nil
	}
	return []usage.Hint{usage.Again("--allow-write", home).Note("if you trust it with that folder")}
}

// String is one line.
func (f *failedCell) String() string { return fmt.Sprintf("cell %d: %s", f.Index+1, f.problem()) }

// problem is one line.
func (f *failedCell) problem() string {
	switch {
	case f.Status == notebook.Raised && f.EName != "":
		return "raised " + term.Fit(term.Printed(f.EName+": "+f.EValue), 300)
	case f.Reason != "":
		return term.Fit(term.Printed(f.Reason), 300)
	}
	return "failed"
}

// conclude prints the result of a run that ended with err, and returns an error that
// carries the exit code.
func (a *Runner) conclude(r *rerun, err error) error {
	if err == nil && r.result.Failed == nil {
		r.show.say("done     %s in %.1f s", human.Plural(r.result.Executed, "cell"), r.result.Seconds)
	}
	for _, line := range answerLines(r.result.Answers) {
		r.show.say("%s", line)
	}
	if r.Check && err == nil {
		return a.concludeCheck(r)
	}
	r.show.close()
	var written error
	switch {
	case r.Check && err != nil: // an unfinished check has no result
	case r.JSON:
		written = term.JSON(a.Stdout, r.result)
	case r.out.shown == "-":
		written = r.out.print(a.File)
	case r.out.written:
		_, written = fmt.Fprintln(a.Stdout, r.out.shown)
	}
	upTo := ""
	if r.out.written {
		upTo = "the notebook up to there: " + r.out.shown
	}
	switch {
	case r.Check && err != nil && upTo == "":
		return err
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(a.Stderr, upTo) // the error says only that it was interrupted
		return err
	case err != nil:
		return fmt.Errorf("%w\n%s", err, upTo)
	case r.result.Failed != nil:
		return &FailedError{fmt.Sprintf("%s\n%s", r.result.Failed, upTo), r.writeHints()}
	}
	return written
}

// Package rerun executes notebooks in fresh kernels, saves the results while cells run, and
// compares the outputs with the recorded ones.
package rerun

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

// A Runner runs notebooks again. All its fields are required.
type Runner struct {
	Host     site.Host
	Stderr   io.Writer
	File     io.Writer // takes a notebook for standard output
	Progress *ui.Progress
	Key      record.Key // of this user's dsstar; may be nil
}

// Flags are the flags of rerun that are not settings; its help describes them.
type Flags struct {
	Out         string
	Timeout     time.Duration
	AllowErrors bool
	Quiet       bool
	JSON        bool
	Check       bool // a round always is
	Tolerance   float64
	Round       int // 0: the whole notebook
	Data        string
	Parameters  []string // each "name=value"
}

// A rerun is one execution of a notebook, or of one of its rounds.
type rerun struct {
	*Runner
	Flags
	place   *place
	k       *rewind.Session
	nb      *notebook.Notebook
	out     *outFile
	steps   []*step
	base    []string // the cells before a round, after which each attempt begins
	failed  *step    // the cell that ended the run
	changed bool     // a check has found a difference
	result  Result
}

// Run executes the notebook nb, which is at path, or a round of it. All arguments are checked
// before anything is set up.
func (a *Runner) Run(ctx context.Context, path string, nb *notebook.Notebook, flags Flags,
	s *configs.Settings) (none cli.Output, err error) {
	begin := time.Now()
	flags.Check = flags.Check || flags.Round != 0
	if err := flags.refuse(path, nb); err != nil {
		return none, err
	}
	place, err := a.newPlace(path, flags, nb, s)
	if err != nil {
		return none, err
	}
	defer place.close()
	r := &rerun{Runner: a, Flags: flags, place: place, nb: nb, out: &outFile{},
		result: Result{Notebook: path}}
	if flags.Round != 0 {
		r.steps, err = r.roundSteps()
	} else if r.steps = r.notebookSteps(); !flags.Check || flags.Out != "" {
		r.out, err = newOutFile(path, flags.Out)
	}
	if err != nil {
		return none, err
	}
	defer r.Progress.Stop()
	if err := r.open(ctx, s); err != nil {
		return none, err
	}
	defer r.k.Close()
	r.out.keep(nb)
	err = r.execute(ctx)
	if err == nil {
		r.compare()
	}
	err = cmp.Or(err, r.out.save(nb))
	r.result.Seconds = time.Since(begin).Seconds()
	return r.conclude(err)
}

// refuse rejects flags that contradict each other or the notebook.
func (f Flags) refuse(path string, nb *notebook.Notebook) error {
	isRan := func(c notebook.Cell) bool { return recordedRun(c) != nil }
	switch {
	case f.Out == "-" && (f.JSON || f.Check):
		return usage.New("--out - needs standard output, and so does what --check and --json print",
			usage.Again("--out", outPath(path)))
	case f.Timeout < 0:
		return usage.New("--timeout is negative", usage.Without("timeout").Note("without a limit"))
	case !(0 <= f.Tolerance && f.Tolerance < 1):
		return usage.New("--tolerance must be at least 0 and less than 1", usage.Again("--tolerance", "1e-6"))
	case f.Check && f.Round == 0 && !slices.ContainsFunc(nb.Cells, isRan):
		return usage.New(ui.Printable(path)+" has no outputs to compare",
			usage.Without("check").Note("makes a notebook that has"))
	}
	return nil
}

// open starts the kernel. The caller must close it.
func (r *rerun) open(ctx context.Context, s *configs.Settings) error {
	for _, source := range files.Databases(r.place.run.Task.Sources) {
		r.Progress.Paste("data     %s", source)
	}
	spec, err := r.spec(ctx, s)
	if err != nil {
		return err
	}
	r.Progress.Wait("starting the kernel")
	box, err := r.box(s)
	if err != nil {
		return err
	}
	o := kernel.Options{Dir: r.place.dir, Env: r.place.env, CellTimeout: r.Timeout,
		Spec: spec, StartTimeout: s.StartTimeout, Sandbox: box,
		Outputs: kernel.Outputs{Secrets: r.Host.SecretTexts()}}
	if spec.IPython() { // cells stay out of IPython's history file, as with nbclient
		o.Spec.Argv = append(slices.Clone(spec.Argv), "--HistoryManager.hist_file=:memory:")
	}
	goes := *s
	if r.Round == 0 { // it never goes back
		goes.Rollback = "replay"
	} else if o.Scratch = filepath.Join(r.place.dir, "files"); o.CellTimeout == 0 {
		o.CellTimeout = s.CellTimeout // as in the run, where an attempt may have timed out
	}
	r.k, err = r.Host.Start(ctx, o, rewind.Options{MaxMemory: box.Limits.Memory / 4 * 3}, &goes)
	if err != nil {
		return err
	}
	info := r.k.Info()
	if info.Language != nil {
		r.nb.Metadata["language_info"] = info.Language
	}
	r.result.Kernel = info.Name
	return nil
}

// execute runs the cells. A failed cell is in the result; an error means that the kernel's
// infrastructure failed, that a round's state cannot be rebuilt, or that ctx was cancelled.
func (r *rerun) execute(ctx context.Context) error {
	for _, s := range r.steps {
		if s.attempt > 0 {
			if err := r.goBack(ctx); err != nil {
				return err
			}
		}
		x, err := r.cell(ctx, s)
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		ends := r.ends(s, x)
		e, _ := x.Error()
		well := e.EName == "SystemExit" && (e.EValue == "" || e.EValue == "0")
		if ends && !well {
			r.fail(s, x)
			return nil
		}
		r.show(x)
		if ends {
			return nil
		}
	}
	return nil
}

// goBack takes the session to the state in which the attempts of a round begin.
func (r *rerun) goBack(ctx context.Context) error {
	r.Progress.Wait(fmt.Sprintf("running the %s before round %d", human.Plural(len(r.base), "cell"),
		r.Round))
	back, err := r.k.Rollback(ctx, r.base)
	if n := len(back.Executions); err == nil && n > 0 && back.Executions[n-1].Status != notebook.OK {
		err = fmt.Errorf("cell %d of those before round %d: %s", n, r.Round, problem(back.Executions[n-1]))
	}
	return err
}

// ends reports whether the run ends with a cell. The tag raises-exception does not cover time-outs.
func (r *rerun) ends(s *step, x notebook.Execution) bool {
	switch {
	case x.Status == notebook.OK || s.attempt > 0:
		return false
	case x.Status == notebook.Raised:
		return !s.mayRaise
	}
	return !(r.AllowErrors && x.Status == notebook.TimedOut && r.k.Alive())
}

// cell executes one cell and stores its outputs in the notebook, those so far if ctx is cancelled.
func (r *rerun) cell(ctx context.Context, s *step) (notebook.Execution, error) {
	r.result.Executed++
	title := firstLine(s.code)
	doing := fmt.Sprintf("cell %d of %d: %s", r.result.Executed, len(r.steps), title)
	r.Progress.Running(doing, s.code)
	r.say("%s", ui.Fit(fmt.Sprintf("In [%d]: %s", r.result.Executed, title), 100))
	x, err := r.k.ExecuteCell(ctx,
		kernel.Cell{Code: s.code, MayRaise: s.mayRaise, Observe: r.Progress.Output})
	home := func(text string) string { return strings.ReplaceAll(text, r.place.dir, r.place.home) }
	x.Outputs, x.Updates = notebook.Rewritten(x.Outputs, home), notebook.Rewritten(x.Updates, home)
	s.is = &x
	if s.cell >= 0 {
		for _, update := range x.Updates {
			for i := range r.nb.Cells {
				notebook.Redisplay(r.nb.Cells[i].Outputs, update)
			}
		}
		c := &r.nb.Cells[s.cell]
		c.Outputs, c.ExecutionCount = x.Outputs, x.Count
		r.out.keep(r.nb)
	}
	return x, err
}

// fail records the cell that ends the run and shows it.
func (r *rerun) fail(s *step, x notebook.Execution) {
	r.failed, r.result.Failed = s, &failedCell{s.cell, s.id, x.Status, problem(x)}
	r.Progress.Stop()
	title := fmt.Sprintf("cell %d of %s, In [%d]: %s", s.cell+1,
		ui.Printable(filepath.Base(r.result.Notebook)), x.Count, firstLine(s.code))
	for line := range strings.Lines(title + "\n" + shown(x)) {
		fmt.Fprintln(r.Stderr, strings.TrimRight(ui.Clean(line), " "))
	}
}

// problem says in one line how a cell failed.
func problem(x notebook.Execution) string {
	said := ui.Fit(ui.Clean(brief.Problem(x)), 300)
	if _, raised := x.Error(); raised && x.Status == notebook.Raised {
		return "raised " + said
	}
	return said
}

// compare compares cells and answers with the record. The notebook says the answers that changed.
func (r *rerun) compare() {
	for _, s := range r.steps {
		if r.Check {
			c := r.check(s)
			r.changed = r.changed || c.Verdict == differs || c.Verdict == failed && s.was != nil
			r.result.Checked = append(r.result.Checked, c)
		}
	}
	if r.Round != 0 {
		return
	}
	r.result.Answers = r.findAnswers()
	now := map[int]string{}
	for _, is := range r.result.Answers {
		if !is.Same || r.Data != "" || len(r.Parameters) > 0 {
			now[is.part] = is.Is
		}
		r.changed = r.changed || !is.Same
	}
	if len(now) > 0 {
		page.Restate(r.nb, now)
	}
	if r.place.made && r.place.intact { // nothing that it shows is anybody else's
		r.Key.Seal(r.nb)
	}
}

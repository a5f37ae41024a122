// Package rerun executes notebooks in fresh kernels, saves the results while cells run, and
// compares the outputs with the recorded ones.
package rerun

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
)

// A Runner runs notebooks again. All its fields are required.
type Runner struct {
	site.Host
	Stdout, Stderr io.Writer
	File           io.Writer                     // takes a notebook for standard output
	Progress       func(quiet bool) *ui.Progress // starts one
	Key            record.Key                    // of this user's dsstar; may be nil
}

// Flags are the flags of rerun that are not settings; its help describes them.
type Flags struct {
	Out         string
	Timeout     time.Duration
	AllowErrors bool
	Quiet       bool
	JSON        bool
	Check       bool
	Tolerance   float64
	Round       *int
	Data        string
	Parameters  []string // each "name=value"
}

// ErrDiffers is returned by a check that has found and printed a difference.
var ErrDiffers = errors.New("the outputs differ")

// Run executes the notebook nb, which is at path, or a round of it. All arguments are checked
// before anything is set up.
func (a *Runner) Run(ctx context.Context, path string, nb *notebook.Notebook, flags Flags,
	s *configs.Settings) error {
	begin := time.Now()
	if err := flags.refuse(path, nb); err != nil {
		return err
	}
	place, err := a.newPlace(path, flags, nb, s)
	if err != nil {
		return err
	}
	defer place.close()
	r := &rerun{Runner: a, Flags: flags, place: place, nb: nb, out: &outFile{nb: nb},
		result: Result{Notebook: path}}
	switch {
	case flags.Round != nil:
		r.steps, err = r.roundSteps()
	case !flags.Check || flags.Out != "":
		r.out, err = newOutFile(path, flags.Out, nb)
	}
	if err != nil {
		return err
	}
	if flags.Round == nil {
		r.steps = r.notebookSteps()
	}
	r.show = &transcript{Progress: a.Progress(flags.Quiet), quiet: flags.Check,
		seen: map[string]bool{}}
	defer r.show.Stop()
	if err := r.open(ctx, s); err != nil {
		return err
	}
	defer r.k.Close()
	err = r.run(ctx)
	r.result.Seconds = time.Since(begin).Seconds()
	return r.conclude(err)
}

// refuse rejects flags that contradict each other or the notebook.
func (f Flags) refuse(path string, nb *notebook.Notebook) error {
	isRan := func(c notebook.Cell) bool { return recordedRun(c) != nil }
	for _, c := range []struct {
		bad  bool
		text string
		hint usage.Hint
	}{
		{f.JSON && f.Out == "-", "--json and --out - both need standard output",
			usage.Again("--json").But("out")},
		{f.Check && f.Out == "-", "--check and --out - both need standard output",
			usage.Again("--out", outPath(path))},
		{f.Round != nil && f.Out+strings.Join(f.Parameters, "") != "",
			"--round runs the cells as they were, and writes no notebook",
			usage.Without("out", "parameters")},
		{!f.Check && f.Tolerance != Tolerance, "--tolerance needs --check", usage.Again("--check")},
		{!(0 <= f.Tolerance && f.Tolerance < 1), "--tolerance must be at least 0 and less than 1",
			usage.Again("--tolerance", "1e-6")},
		{f.Check && f.Round == nil && !slices.ContainsFunc(nb.Cells, isRan),
			ui.Printable(path) + " has no outputs to compare",
			usage.Without("check").Note("makes a notebook that has")},
	} {
		if c.bad {
			return usage.New(c.text, c.hint)
		}
	}
	return nil
}

// open starts the kernel. The caller must close it.
func (r *rerun) open(ctx context.Context, s *configs.Settings) error {
	for _, w := range s.Warnings {
		r.show.Warn("%s", w)
	}
	for _, source := range files.Databases(r.place.runOf(r.nb).Task.Sources) {
		r.show.Paste("data     %s", source)
	}
	spec, err := r.spec(ctx, s)
	if err != nil {
		return err
	}
	r.show.Wait("starting the kernel")
	box, err := r.box(s)
	if err != nil {
		return err
	}
	o := kernel.Options{Dir: r.place.dir, Env: r.place.env, CellTimeout: r.Timeout,
		Spec: withoutHistory(spec), StartTimeout: s.StartTimeout, Sandbox: box,
		Outputs: kernel.Outputs{Secrets: r.SecretTexts()}}
	if r.Round == nil { // it never goes back
		r.k, err = site.Begin(ctx, o, rewind.Options{})
	} else {
		if o.Scratch = filepath.Join(r.place.dir, "files"); o.CellTimeout == 0 {
			o.CellTimeout = s.CellTimeout // as in the run, where an attempt may have timed out
		}
		r.k, err = r.Start(ctx, o, rewind.Options{MaxMemory: box.Limits.Memory / 4 * 3}, s)
	}
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

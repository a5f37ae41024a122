// Package rerun executes notebooks in fresh kernels, saves the results while cells run, and
// compares the outputs with the recorded ones.
package rerun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/term"
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
	File           io.Writer // takes a notebook for standard output
	Terminal       bool      // Stderr is one
	Width          func() int
	Progress       func(quiet bool) *progress.Progress // starts one
	Key            record.Key                          // of this user's dsstar; may be nil
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

// Run executes the notebook nb, which is at path, or a round of it. All arguments are checked before
// anything is set up.
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
	r := &rerun{Runner: a, Flags: flags, place: place, nb: nb, out: &outFile{nb: nb}, shows: map[string][]int{},
		result: Result{Notebook: path, Incomplete: []incompleteCell{}}}
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
	r.doing = a.Progress(flags.Quiet)
	defer r.doing.Stop()
	if err := r.open(ctx, s); err != nil {
		return err
	}
	defer r.k.Close()
	r.show = a.newTranscript()
	err = r.run(ctx)
	r.result.Seconds = time.Since(begin).Seconds()
	r.doing.Stop()
	return r.conclude(err)
}

// refuse rejects flags that contradict each other or the notebook.
func (f Flags) refuse(path string, nb *notebook.Notebook) error {
	switch {
	case f.JSON && f.Out == "-":
		return usage.New("--json and --out - both need standard output", usage.Again("--json").But("out"))
	case f.Check && f.Out == "-":
		return usage.New("--check and --out - both need standard output",
			usage.Again("--out", outPath(path)))
	case f.Round != nil && f.Out != "":
		return usage.New("--round writes no notebook: --out has no effect", usage.Without("out"))
	case f.Round != nil && len(f.Parameters) > 0:
		return usage.New("--round runs the cells as they were: --parameters has no effect",
			usage.Without("parameters"))
	case !f.Check && f.Tolerance != Tolerance:
		return usage.New("--tolerance needs --check", usage.Again("--check"))
	case math.IsNaN(f.Tolerance) || f.Tolerance < 0 || f.Tolerance >= 1:
		return usage.New("--tolerance must be at least 0 and less than 1",
			usage.Again("--tolerance", "1e-6"))
	case f.Check && f.Round == nil && !slices.ContainsFunc(nb.Cells,
		func(c notebook.Cell) bool { return recordedRun(c) != nil }):
		return usage.New(fmt.Sprintf("%s has no outputs to compare", term.Printable(path)),
			usage.Without("check").Note("makes a notebook that has"))
	}
	return nil
}

// open starts the kernel. The caller must close it.
func (r *rerun) open(ctx context.Context, s *configs.Settings) error {
	for _, w := range s.Warnings {
		r.doing.Warn("%s", w)
	}
	for _, source := range files.Databases(r.place.runOf(r.nb).Task.Sources) {
		r.doing.Paste("data     %s", source)
	}
	spec, err := r.spec(ctx, s)
	if err != nil {
		return err
	}
	r.doing.Wait("starting the kernel")
	box, err := r.box(s)
	if err != nil {
		return err
	}
	o := kernel.Options{Dir: r.place.dir, Env: r.place.env, CellTimeout: r.Timeout, Spec: withoutHistory(spec),
		StartTimeout: s.StartTimeout, Sandbox: box, Outputs: kernel.Outputs{Secrets: r.SecretTexts()}}
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
	r.result.Kernel.Name = info.Name
	r.result.Kernel.Language, _ = info.Language["name"].(string)
	r.result.Kernel.Version, _ = info.Language["version"].(string)
	return nil
}

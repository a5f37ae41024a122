package rerun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
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
	"dsstar/kernel/checkpoint"
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

// Run executes the notebook nb, which is at path. All arguments are checked before anything is set
// up.
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
	if flags.Round != nil {
		return a.round(ctx, path, nb, place, flags, s)
	}
	out := noOutFile(nb)
	if !flags.Check || flags.Out != "" {
		if out, err = newOutFile(path, flags.Out, nb); err != nil {
			return err
		}
	}
	p := a.Progress(flags.Quiet)
	defer p.Stop()
	k, spec, err := a.start(ctx, path, nb, place, s, p, kernel.Options{
		Dir: place.dir, Env: place.env, CellTimeout: flags.Timeout, Outputs: kernel.Outputs{Secrets: a.SecretTexts()},
	})
	if err != nil {
		return err
	}
	defer k.Close()
	completeSpec(nb, spec)
	r := newRerun(a, path, place, out, flags)
	r.begin, r.k = begin, k
	if flags.Check {
		r.doing = p
	} else {
		p.Stop()
	}
	err = r.run(ctx)
	p.Stop()
	return a.conclude(r, err)
}

// refuse rejects flags that contradict each other or the notebook.
func (f Flags) refuse(path string, nb *notebook.Notebook) error {
	switch {
	case f.JSON && f.Out == "-":
		return usage.New("--json and --out - both need standard output", usage.Again("--json").But("out"))
	case f.Check && f.Out == "-":
		return usage.New("--check and --out - both need standard output",
			usage.Again("--out", OutPath(path)))
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
	case f.Check && f.Round == nil &&
		!slices.ContainsFunc(slices.Collect(maps.Values(recordedRuns(nb))), cellRun.ran):
		return usage.New(fmt.Sprintf("%s has no outputs to compare", term.Printable(path)),
			usage.Without("check").Note("makes a notebook that has"))
	}
	return nil
}

// start starts the kernel for the notebook. The caller must close it.
func (a *Runner) start(ctx context.Context, path string, nb *notebook.Notebook, place *place,
	s *configs.Settings, p *progress.Progress,
	o kernel.Options) (*checkpoint.Session, kernel.Spec, error) {
	for _, w := range s.Warnings {
		p.Warn("%s", w)
	}
	for _, source := range files.Databases(place.runOf(nb).Task.Sources) {
		p.Paste("data     %s", source)
	}
	spec, err := a.spec(ctx, path, nb, s, p)
	if err != nil {
		return nil, spec, err
	}
	p.Wait("starting the kernel")
	box, err := a.box(s, place, p)
	if err != nil {
		return nil, spec, err
	}
	o.Spec, o.StartTimeout, o.Sandbox = withoutHistory(spec), s.StartTimeout, box
	if o.Scratch == "" { // it never goes back
		k, err := site.Begin(ctx, o, checkpoint.Options{})
		return k, spec, err
	}
	k, err := a.Start(ctx, o, checkpoint.Options{MaxMemory: box.Limits.Memory / 4 * 3}, s)
	return k, spec, err
}

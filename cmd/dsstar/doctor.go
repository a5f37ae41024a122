package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// A finding is the result of one check.
type finding struct {
	Check  string   `json:"check"`
	Status string   `json:"status"` // "ok", "warning" or "failed"
	Detail string   `json:"detail"`
	Hints  []string `json:"hints"` // commands to paste
	hints  []usage.Hint
}

func fine(detail string) finding { return finding{Status: "ok", Detail: detail} }

func warning(detail string, hints ...usage.Hint) finding {
	return finding{Status: "warning", Detail: detail, hints: hints}
}

// failed returns the finding for an error, with some hints and its usual ones.
func failed(err error, hints ...usage.Hint) finding {
	usual := causeOf(err).hints
	if errors.Is(err, llm.ErrConnection) { // whose hint is dsstar doctor
		usual = []usage.Hint{usage.Shell("dsstar config   # shows the base URL: is its server running?")}
	}
	return finding{Status: "failed", Detail: err.Error(), hints: append(hints, usual...)}
}

func (a *app) doctorCommand() cli.Command {
	return cli.Command{
		Use:   "doctor",
		Short: "Check what works here, and say how to fix what does not",
		Long: `Check the settings, the folders, Python (which is set up if needed), a kernel, and
the model (by a request of a few tokens), and say how to fix what fails. Exit code 1 if something failed.`,
		Example: "  dsstar doctor\n  dsstar doctor --python ~/venv/bin/python --model " +
			"ollama/qwen3 --json",
		Flags:    []cli.Flag{cli.Opt(new(bool), "json", "Output", "print JSON")},
		Settings: "Model -second Kernel cell-timeout Sandbox",
		Run:      a.doctor,
	}
}

// doctor checks everything, and prints each finding at once.
func (a *app) doctor(ctx context.Context, c *cli.Call) (out cli.Output, err error) {
	var all []finding
	for _, check := range []struct {
		name string
		do   func(context.Context, *configs.Settings) finding
	}{{"settings", checkSettings}, {"folders", a.checkFolders}, {"kernel", a.checkKernel},
		{"sandbox", a.checkSandbox}, {"model", a.checkModel}} {
		f := check.do(ctx, c.Settings)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		f.Check, f.Hints = check.name, append([]string{}, rendered(f.hints, a.line)...)
		if all = append(all, f); f.Status == "failed" {
			out.Code = exitError
		}
		if !c.JSON {
			printFinding(a.stdout, f)
		}
	}
	out.Value = all
	return out, nil
}

func printFinding(w io.Writer, f finding) {
	fmt.Fprintf(w, "%-8s %-9s %s\n", f.Check, f.Status,
		strings.ReplaceAll(configs.Redact(f.Detail), "\n", "\n"+strings.Repeat(" ", 19)))
	for _, hint := range f.Hints {
		fmt.Fprintf(w, "%18s %s\n", "→", configs.Redact(hint))
	}
}

func checkSettings(_ context.Context, s *configs.Settings) finding {
	if len(s.Warnings) > 0 {
		return warning(strings.Join(s.Warnings, "\n"), usage.Shell("dsstar config"))
	}
	return fine("no unknown keys; dsstar " + version())
}

// checkFolders checks that the folders for runs and caches are writable.
func (a *app) checkFolders(_ context.Context, s *configs.Settings) finding {
	for _, dir := range []string{a.host.CacheDir, s.Out} {
		if err := disk.CheckWritable(dir); err != nil {
			return failed(err, usage.Shell("ls -ld %s", disk.Existing(dir)))
		}
	}
	return fine(fmt.Sprintf("runs go to %s, caches to %s", s.Out, a.host.CacheDir))
}

// checkKernel starts the kernel that a run would start, executes a cell and goes back. It leaves
// kernels of the user's alone.
func (a *app) checkKernel(ctx context.Context, s *configs.Settings) finding {
	say := func(line string) { fmt.Fprintln(a.stderr, ui.Clean(line)) }
	p, err := a.host.Site(ctx, s, site.Use{}, say)
	if err != nil {
		return failed(err)
	}
	at := p.About()
	if at.Running != nil {
		return fine(at.Name + " is running: " + site.InState(*at.Running))
	}
	if err := p.Look(ctx, disk.Existing(s.Out)); err != nil {
		return failed(err)
	}
	dir, err := disk.TempFolder("", "dsstar-doctor-")
	if err != nil {
		return failed(err)
	}
	defer disk.RemoveTemp(dir)
	begin := time.Now()
	k, err := p.Open(ctx, agent.Describe, dir, nil)
	if err != nil && at.Server != "" {
		return failed(err)
	}
	python := slices.Concat(at.Spec.Argv, []string{"python3"})[0]
	if err != nil {
		return failed(err, usage.Shell("%s -m ipykernel_launcher --version", python),
			usage.Without("python", "kernel").Note("the Python that dsstar sets up"))
	}
	defer k.Close()
	ready := time.Since(begin)
	cell := "import sys, numpy, pandas\nprint(sys.version.split()[0], 'numpy', numpy.__version__, " +
		"'pandas', pandas.__version__)"
	e, err := k.Execute(ctx, cell)
	if err != nil {
		return failed(err)
	}
	if e.Status != notebook.OK {
		return failed(usage.New(strings.TrimSpace(e.PlainText()), site.VenvHints(site.Required...)...))
	}
	text := fmt.Sprintf("Python %s, ready in %.1f s: %s", strings.TrimSpace(e.Stdout()),
		ready.Seconds(), cmp.Or(at.Server, python))
	if s.Rollback.Off() {
		return fine(text + "\ndoes not go back")
	}
	back, err := k.Rollback(ctx, []string{cell})
	if err != nil {
		return failed(err)
	}
	if text += fmt.Sprintf("\ngoes back by %s, in %.2g s", back.Way, back.Seconds); back.Why != "" {
		text += ": " + back.Why
	}
	return fine(text)
}

// checkSandbox names the tier, why it is not a stronger one, and the version of Landlock.
func (a *app) checkSandbox(_ context.Context, s *configs.Settings) finding {
	b, why, err := a.host.Box(s)
	if err != nil {
		return failed(err)
	}
	if !b.Tier.Confines() {
		return warning(string(b.Tier)+": the cells that a model writes run with all rights of dsstar's",
			usage.Again("--sandbox", "auto"))
	}
	f := fine(site.InWords(b, s) + fmt.Sprintf(" (Landlock ABI %d)", sandbox.Landlock()))
	if why != "" {
		f.Detail += ": " + why
		_, _, missing := sandbox.Choose(string(sandbox.Full))
		f.hints = tierHints(missing)
	}
	return f
}

// checkModel asks each model for a word.
func (a *app) checkModel(ctx context.Context, s *configs.Settings) finding {
	_, err := a.model(s, nil)
	path, isTrace := strings.CutPrefix(s.Model, replayPrefix)
	switch {
	case err != nil && s.Model == "":
		f := failed(err)
		f.Status = "warning"
		return f
	case err != nil:
		return failed(err)
	case isTrace:
		return fine("replayed from " + path)
	}
	names := []string{s.Model}
	for _, role := range roleNames(s) {
		if name := s.Models[role]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	all := fine("")
	for _, name := range names {
		f := a.checkEndpoint(ctx, s, name)
		all.Detail = strings.TrimPrefix(all.Detail+"\n"+f.Detail, "\n")
		if all.hints = append(all.hints, f.hints...); f.Status != "ok" {
			all.Status = f.Status
		}
	}
	return all
}

// checkEndpoint asks a model for a word, and tells its price.
func (a *app) checkEndpoint(ctx context.Context, s *configs.Settings, name string) finding {
	e, err := a.endpoint(s, name)
	if err != nil {
		return failed(err)
	}
	e.CallTimeout, e.IdleTimeout, e.Retries = 2*time.Minute, 0, 0 // it may have to be loaded
	m, err := e.Open()
	answers := false
	if err == nil {
		ctx, stop := context.WithCancel(ctx)
		_, err = m.Ask(ctx, llm.Request{Messages: []llm.Message{{Role: "user", Text: "Reply with: yes"}},
			OnText: func(func() string) { answers = true; stop() }}) // its first word is enough
		stop()
	}
	if err != nil && !answers {
		return failed(err)
	}
	text := fmt.Sprintf("%s answers with %s at %s", e.Provider, e.Model, configs.Redact(e.BaseURL))
	p, ok := s.Price(name)
	if !ok {
		return fine(text + "\nits price is unknown: prices of your settings can have it")
	}
	return fine(fmt.Sprintf("%s\na million tokens cost %s in and %s out", text,
		human.Dollars(*p.Input), human.Dollars(*p.Output)))
}

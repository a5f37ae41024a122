package main

import (
	"cmp"
	"context"
	"fmt"
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
	"dsstar/notebook/lists"
)

func (a *app) doctorCommand() cli.Command {
	var model string
	return cli.Command{
		Use:   "doctor",
		Short: "Check what works here, and say how to fix what does not",
		Long: `Check the folders, Python (which is set up if needed), a kernel, the sandbox, and
each model (by a request of a few tokens, which may take two minutes or call_timeout),
and say how to fix what fails. Exit code 1 if something failed.

With --trial a model carries out six small tasks instead, in three minutes at most: the
requests are those of a run, and a program compares the answers with known ones. It says
of each ability whether the model has shown it, and what the model is fit for. Exit code
1 if it is not fit.`,
		Example: "  dsstar doctor\n  dsstar doctor --python ~/venv/bin/python --model ollama/qwen3\n" +
			"  dsstar doctor --trial ollama/qwen3 --context 16384",
		Flags: []cli.Flag{cli.Opt(&model, "trial", "Model", "try what this model can do: provider/name"),
			cli.Opt(new(bool), "json", "Output", "print one JSON object instead of text")},
		Excludes: [][]string{{"trial", "model"}}, Needs: [][]string{{"json", "trial", "PROVIDER/MODEL"}},
		Settings: "Model Kernel cell-timeout Sandbox",
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			if model != "" {
				return a.tryModel(ctx, c.Settings, model)
			}
			return a.doctor(ctx, c)
		},
	}
}

// doctor checks everything, and prints each finding at once.
func (a *app) doctor(ctx context.Context, c *cli.Call) (out cli.Output, err error) {
	fmt.Fprintf(a.stdout, "%-18s %s\n", "dsstar", version())
	for _, w := range a.strays() {
		a.warn("%s", w)
	}
	try := func(name string, check func(context.Context, *configs.Settings) (string, error)) {
		text, err := check(ctx, c.Settings)
		if ctx.Err() != nil {
			return
		}
		status, hints := "ok", []usage.Hint(nil)
		if err != nil {
			status, text, hints = "failed", err.Error(), causeOf(err).hints
		}
		if err != nil && c.Settings.Model == "" && name == "model" {
			status = "not set"
		} else if err != nil {
			out.Code = exitError
		}
		fmt.Fprintf(a.stdout, "%-8s %-9s %s\n", name, status,
			strings.ReplaceAll(configs.Redact(text), "\n", "\n"+strings.Repeat(" ", 19)))
		for _, hint := range rendered(hints, a.line) {
			fmt.Fprintf(a.stdout, "%18s %s\n", "→", configs.Redact(hint))
		}
	}
	try("folders", a.checkFolders)
	try("kernel", a.checkKernel)
	try("sandbox", a.checkSandbox)
	of := func(role string) string { return c.Settings.Models[role] }
	names := append(lists.Map(roleNames(c.Settings), of), c.Settings.Model)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		try("model", func(ctx context.Context, s *configs.Settings) (string, error) {
			return a.checkModel(ctx, s, name)
		})
	}
	return out, ctx.Err()
}

// checkFolders checks that the folders for runs and caches are writable.
func (a *app) checkFolders(_ context.Context, s *configs.Settings) (string, error) {
	for _, dir := range []string{a.host.CacheDir, s.Out} {
		if err := disk.CheckWritable(dir); err != nil {
			return "", usage.New(err.Error(), usage.Shell("ls -ld %s", disk.Existing(dir)))
		}
	}
	return fmt.Sprintf("runs go to %s, caches to %s", s.Out, a.host.CacheDir), nil
}

// checkKernel starts the kernel that a run would start, executes a cell and goes back. It leaves
// kernels of the user's alone.
func (a *app) checkKernel(ctx context.Context, s *configs.Settings) (string, error) {
	say := func(line string) { fmt.Fprintln(a.stderr, ui.Clean(line)) }
	p, err := a.host.Site(ctx, s, site.Use{}, say)
	if err != nil {
		return "", err
	}
	at := p.About()
	if at.Running != nil {
		return at.Name + " is running: " + site.InState(*at.Running), nil
	}
	if err := p.Look(ctx, disk.Existing(s.Out)); err != nil {
		return "", err
	}
	dir, err := disk.TempFolder("", "dsstar-doctor-")
	if err != nil {
		return "", err
	}
	defer disk.RemoveTemp(dir)
	k, err := p.Open(ctx, agent.Describe, dir, nil)
	if err != nil && at.Server != "" {
		return "", err
	}
	python := slices.Concat(at.Spec.Argv, []string{"python3"})[0]
	if err != nil {
		return "", usage.New(err.Error(), append(causeOf(err).hints,
			usage.Shell("%s -m ipykernel_launcher --version", python),
			usage.Without("python", "kernel").Note("the Python that dsstar sets up"))...)
	}
	defer k.Close()
	cell := "import sys, numpy, pandas\nprint(sys.version.split()[0], 'numpy', numpy.__version__, " +
		"'pandas', pandas.__version__)"
	e, err := k.Execute(ctx, cell)
	if err != nil {
		return "", err
	}
	if e.Status != notebook.OK {
		return "", usage.New(strings.TrimSpace(e.PlainText()), site.VenvHints(site.Required...)...)
	}
	text := fmt.Sprintf("Python %s: %s", strings.TrimSpace(e.Stdout()), cmp.Or(at.Server, python))
	back, err := k.Rollback(ctx, []string{cell})
	if err != nil {
		return "", err
	}
	if text += fmt.Sprintf("\ngoes back by %s, in %.2g s", back.Way, back.Seconds); back.Why != "" {
		text += ": " + back.Why
	}
	return text, nil
}

// checkSandbox names the tier, why it is not a stronger one, and the version of Landlock.
func (a *app) checkSandbox(_ context.Context, s *configs.Settings) (string, error) {
	b, notes, err := a.host.Box(s)
	if err != nil {
		return "", err
	}
	if !b.Tier.Confines() {
		return string(b.Tier) + ": the cells that a model writes run with all rights of dsstar's", nil
	}
	text := b.Describe() + fmt.Sprintf(" (Landlock ABI %d)", sandbox.Landlock())
	return strings.Join(append([]string{text}, notes...), "\n"), nil
}

// checkModel asks a model for a word.
func (a *app) checkModel(ctx context.Context, s *configs.Settings, name string) (string, error) {
	if name == "" {
		return "", a.noModel(s)
	}
	if path, isTrace := strings.CutPrefix(name, replayPrefix); isTrace {
		_, err := replayed(path)
		return "replayed from " + path, err
	}
	e, err := a.endpoint(s, name)
	if err != nil {
		return "", err
	}
	e.CallTimeout, e.IdleTimeout, e.Retries = min(e.CallTimeout, 2*time.Minute), 0, 0 // it may have to be loaded
	m, err := e.Open()
	fmt.Fprintf(a.stderr, "asking %s at %s, which has %v to answer\n", ui.Clean(name), configs.Redact(e.BaseURL), e.CallTimeout)
	answers := false
	if err == nil {
		ctx, stop := context.WithCancel(ctx)
		_, err = m.Ask(ctx, llm.Request{Messages: []llm.Message{{Role: "user", Text: "Reply with: yes"}},
			OnText: func(func() string) { answers = true; stop() }}) // its first word is enough
		stop()
	}
	if err != nil && !answers {
		return "", err
	}
	return fmt.Sprintf("%s answers with %s at %s", e.Provider, e.Model, configs.Redact(e.BaseURL)), nil
}

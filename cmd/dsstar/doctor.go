package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dsstar/agent"
	"dsstar/agent/llm"
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

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what works here, and say how to fix what does not",
		Long: `Check the settings, the folders, Python (which is set up if needed), a kernel, and
the model (by a request of a few tokens), and say how to fix what fails. Exit code 1 if something failed.`,
		Example: "  dsstar doctor\n  dsstar doctor --python ~/venv/bin/python --model " +
			"ollama/qwen3 --json",
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	endpointFlags(cmd.Flags())
	interpreterFlags(cmd.Flags())
	sandboxFlags(cmd.Flags())
	serverFlag(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := a.settings(cmd.Flags())
		if err != nil {
			return err
		}
		var all []finding
		failed := false
		for _, check := range []func(context.Context, *configs.Settings) finding{
			a.checkSettings, a.checkFolders, a.checkKernel, a.checkSandbox, a.checkModel,
		} {
			f := check(cmd.Context(), s)
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			f.Hints = []string{}
			for _, hint := range f.hints {
				if hint.Fits(a.line) {
					f.Hints = append(f.Hints, hint.On(a.line))
				}
			}
			all = append(all, f)
			failed = failed || f.Status == "failed"
			if !asJSON {
				printFinding(a.stdout, f)
			}
		}
		if asJSON {
			if err := ui.JSON(a.stdout, all); err != nil {
				return err
			}
		}
		if failed {
			return silent{exitError}
		}
		return nil
	}
	return cmd
}

func printFinding(w io.Writer, f finding) {
	fmt.Fprintf(w, "%-8s %-9s %s\n", f.Check, f.Status,
		strings.ReplaceAll(configs.Redact(f.Detail), "\n", "\n"+strings.Repeat(" ", 19)))
	for _, hint := range f.Hints {
		fmt.Fprintf(w, "%18s %s\n", "→", configs.Redact(hint))
	}
}

// failedBy returns the finding for an error, with its usual hints.
func failedBy(check string, err error) finding {
	_, text, hints := causeOf(err)
	if errors.Is(err, llm.ErrConnection) { // whose hint is dsstar doctor
		hints = []usage.Hint{usage.Shell("dsstar config   # shows the base URL: is its server running?")}
	}
	return finding{Check: check, Status: "failed", Detail: text, hints: hints}
}

func (a *app) checkSettings(_ context.Context, s *configs.Settings) finding {
	if len(s.Warnings) > 0 {
		return finding{Check: "settings", Status: "warning", Detail: strings.Join(s.Warnings, "\n"),
			hints: []usage.Hint{usage.Shell("dsstar config")}}
	}
	return finding{Check: "settings", Status: "ok", Detail: "no unknown keys; dsstar " + version()}
}

// checkFolders checks that the folders for runs and caches are writable.
func (a *app) checkFolders(_ context.Context, s *configs.Settings) finding {
	for _, dir := range []string{a.host.CacheDir, s.Out} {
		if err := disk.CheckWritable(dir); err != nil {
			return finding{Check: "folders", Status: "failed", Detail: err.Error(),
				hints: []usage.Hint{usage.Shell("ls -ld %s", disk.Existing(dir))}}
		}
	}
	return finding{Check: "folders", Status: "ok",
		Detail: fmt.Sprintf("runs go to %s, caches to %s", s.Out, a.host.CacheDir)}
}

// checkKernel starts the kernel that a run would start and executes a cell. It leaves kernels
// of the user's alone.
func (a *app) checkKernel(ctx context.Context, s *configs.Settings) finding {
	say := func(line string) { fmt.Fprintln(a.stderr, ui.Clean(line)) }
	p, err := a.host.Site(ctx, s, site.Use{}, say)
	if err != nil {
		return failedBy("kernel", err)
	}
	at := p.About()
	if at.Running != nil {
		return finding{Check: "kernel", Status: "ok",
			Detail: fmt.Sprintf("%s is running: %s", at.Name, site.InState(*at.Running))}
	}
	if err := p.Look(ctx, disk.Existing(s.Out)); err != nil {
		return failedBy("kernel", err)
	}
	dir, err := disk.TempFolder("", "dsstar-doctor-")
	if err != nil {
		return failedBy("kernel", err)
	}
	defer disk.RemoveTemp(dir)
	begin := time.Now()
	k, err := p.Open(ctx, agent.Describe, dir, nil)
	if err != nil && at.Server != "" {
		return failedBy("kernel", err)
	}
	python := slices.Concat(at.Spec.Argv, []string{"python3"})[0]
	if err != nil {
		_, _, hints := causeOf(err)
		return finding{Check: "kernel", Status: "failed", Detail: err.Error(), hints: append([]usage.Hint{
			usage.Shell("%s -m ipykernel_launcher --version", python),
			usage.Without("python", "kernel").Note("the Python that dsstar sets up")}, hints...)}
	}
	defer k.Close()
	ready := time.Since(begin)
	cell := "import sys, numpy, pandas\nprint(sys.version.split()[0], 'numpy', numpy.__version__, " +
		"'pandas', pandas.__version__)"
	e, err := k.Execute(ctx, cell)
	if err != nil {
		return failedBy("kernel", err)
	}
	if e.Status != notebook.OK {
		return finding{Check: "kernel", Status: "failed", Detail: strings.TrimSpace(e.PlainText()),
			hints: site.VenvHints(site.Required...)}
	}
	where := cmp.Or(at.Server, python)
	text := fmt.Sprintf("Python %s, ready in %.1f s: %s", strings.TrimSpace(e.Stdout()),
		ready.Seconds(), where)
	if s.Rollback.Off() {
		return finding{Check: "kernel", Status: "ok", Detail: text + "\ndoes not go back"}
	}
	back, err := k.Rollback(ctx, []string{cell})
	if err != nil {
		return failedBy("kernel", err)
	}
	return finding{Check: "kernel", Status: "ok", Detail: text + "\n" + goesBack(back)}
}

// goesBack describes how, and how fast, a kernel restores an earlier state.
func goesBack(b notebook.Restoration) string {
	text := fmt.Sprintf("goes back by %s, in %.2g s", b.Way, b.Seconds)
	if b.Why != "" {
		text += ": " + b.Why
	}
	return text
}

// checkSandbox names the tier, why it is not a stronger one, and the version of Landlock.
func (a *app) checkSandbox(_ context.Context, s *configs.Settings) finding {
	b, why, err := a.host.Box(s)
	if err != nil {
		return failedBy("sandbox", err)
	}
	if !b.Tier.Confines() {
		return finding{Check: "sandbox", Status: "warning",
			Detail: string(b.Tier) + ": the cells that a model writes run with all rights of dsstar's",
			hints:  []usage.Hint{usage.Again("--sandbox", "auto")}}
	}
	f := finding{Check: "sandbox", Status: "ok",
		Detail: site.InWords(b, s) + fmt.Sprintf(" (Landlock ABI %d)", sandbox.Landlock())}
	if why != "" {
		f.Detail += ": " + why
		_, _, missing := sandbox.Choose(string(sandbox.Full))
		f.hints = tierHints(missing)
	}
	return f
}

// checkModel asks each model for a word.
func (a *app) checkModel(ctx context.Context, s *configs.Settings) finding {
	if _, err := a.model(s, nil); err != nil {
		f := failedBy("model", err)
		if s.Model == "" {
			f.Status = "warning"
		}
		return f
	}
	if path, ok := strings.CutPrefix(s.Model, replayPrefix); ok {
		return finding{Check: "model", Status: "ok", Detail: "replayed from " + path}
	}
	all := []string{s.Model}
	for _, role := range slices.Sorted(maps.Keys(s.Models)) {
		if name := s.Models[role]; name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	result := finding{Check: "model", Status: "ok"}
	for _, name := range all {
		f := a.checkEndpoint(ctx, s, name)
		detail := f.Detail + "\n" + priceLine(s, name)
		result.Detail = strings.TrimPrefix(result.Detail+"\n"+detail, "\n")
		result.hints = append(result.hints, f.hints...)
		if f.Status == "failed" || f.Status == "warning" && result.Status == "ok" {
			result.Status = f.Status
		}
	}
	return result
}

// priceLine tells the price of a model.
func priceLine(s *configs.Settings, name string) string {
	p, ok := s.Price(name)
	if !ok {
		return "its price is unknown: prices of your settings can have it"
	}
	text := fmt.Sprintf("a million tokens cost %s in and %s out", human.Dollars(*p.Input),
		human.Dollars(*p.Output))
	if p.Listed != "" {
		text += " (list price of " + p.Listed + ")"
	}
	return text
}

func (a *app) checkEndpoint(ctx context.Context, s *configs.Settings, name string) finding {
	e, err := a.endpoint(s, name)
	if err != nil {
		return failedBy("model", err)
	}
	e.CallTimeout = 2 * time.Minute // it may have to be loaded
	m, err := e.Open()
	answers := false
	if err == nil {
		ctx, stop := context.WithCancel(ctx)
		_, err = m.Ask(ctx, llm.Request{Messages: []llm.Message{{Role: "user", Text: "Reply with: yes"}},
			OnText: func(func() string) { answers = true; stop() }}) // its first word is enough
		stop()
	}
	if err != nil && !answers {
		return failedBy("model", err)
	}
	return finding{Check: "model", Status: "ok", Detail: fmt.Sprintf("%s answers with %s at %s",
		e.Provider, e.Model, configs.Redact(e.BaseURL))}
}

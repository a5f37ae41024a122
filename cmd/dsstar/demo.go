package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
	"dsstar/notebook/disk"
)

//go:generate env DSSTAR_LONG=1 go test -count=1 -run TestRecordDemo . -record

// The example has data from a seeded generator and recorded model replies.
var (
	//go:embed demo/generate.py
	demoGenerator string
	//go:embed demo/question.txt
	demoQuestion string
	//go:embed demo/guidelines.txt
	demoGuidelines string
	//go:embed demo/trace.jsonl
	demoTrace []byte
)

const demoNotice = "the model's replies are recorded; all else is live: the kernel, the files, " +
	"every cell, going back, the notebook and the proof"

func (a *app) demoCommand() cli.Command {
	var flags runFlags
	return cli.Command{
		Use:   "demo",
		Short: "Answer a question about shipped data, with recorded model replies",
		Long: `Answer a question about shipped data. The model's replies are recorded, so no model
is needed; everything else is live. The data are generated once, in your cache
folder.`,
		Example:  "  dsstar demo\n  dsstar demo --out demo-run --json",
		Flags:    slices.Concat(flags.ofNew(), flags.common()),
		Settings: "python kernel cell-timeout rollback Sandbox",
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			s, err := demoSettings(c.Settings)
			if err != nil {
				return none, err
			}
			return a.withJob(flags, s, func(j job) (err error) {
				if j.model, err = demoReplies(); err != nil {
					return err
				}
				j.shown, j.goOn = true, append(j.goOn, usage.Flag{Name: "model", Value: demoModel})
				return a.demo(ctx, j)
			})
		},
	}
}

// demo carries out the command.
func (a *app) demo(ctx context.Context, j job) error {
	question := strings.TrimSpace(demoQuestion)
	a.host.Managed = true // the recorded cells need its packages
	j.progress.Say("demo     %s", demoNotice)
	j.progress.Say("question %s", question)
	if err := j.setUp(ctx, a); err != nil {
		return err
	}
	if j.site.About().Server != "" {
		return usage.New("the demo runs only on this machine", usage.Shell("dsstar demo"))
	}
	j.progress.Wait("writing the example's data")
	data, err := a.demoData(ctx, j.settings, j.site.About().Spec)
	if err != nil {
		return err
	}
	if j.sources, err = a.sources(ctx, &j, []string{data}); err != nil {
		return err
	}
	if err = j.setTask(ctx, question, strings.TrimSpace(demoGuidelines)); err != nil {
		return err
	}
	return a.answer(ctx, j)
}

// demoModel is the model name of the demo's recorded replies, for resuming the demo.
const demoModel = configs.DemoModel

func demoReplies() (llm.Model, error) {
	exchanges, err := disk.ReadLines[llm.Exchange](demoTrace)
	return llm.Replay(exchanges, true), err // packages of other versions print other things
}

// demoSettings returns the user's settings for the kernel, the sandbox and folders. All else has the
// defaults, with which the recording was made.
func demoSettings(user *configs.Settings) (*configs.Settings, error) {
	defaults, err := configs.Load(configs.Sources{})
	if err != nil {
		return nil, err
	}
	s := *user
	s.Model, s.Models, s.Mask, s.Method = demoModel, nil, nil, defaults.Method
	s.MaxRounds, s.DebugTries, s.Server = defaults.MaxRounds, defaults.DebugTries, ""
	s.TopK, s.MaxFiles, s.Context = defaults.TopK, defaults.MaxFiles, defaults.Context
	s.ResultChars, s.DescriptionChars = defaults.ResultChars, defaults.DescriptionChars
	s.ContextChars, s.Memory, s.AllowGPU = defaults.ContextChars, defaults.Memory, false
	s.MaxCost, s.MaxCalls, s.MaxTime, s.Learn = 0, 0, 0, false
	return &s, nil
}

// demoData returns the example's data folder in the cache. It is created whole on first use.
func (a *app) demoData(ctx context.Context, s *configs.Settings, spec kernel.Spec) (string, error) {
	dir := filepath.Join(a.host.CacheDir, "demo-"+digestOf([]byte(demoGenerator))[:8])
	if isFolder(dir) {
		return dir, nil
	}
	python, err := spec.Program(a.host.Env)
	if err = cmp.Or(a.checkCache(), err, os.MkdirAll(a.host.CacheDir, 0o755)); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(a.host.CacheDir, "demo-part-")
	defer os.RemoveAll(part)
	data := filepath.Join(part, "data")
	if err == nil {
		_, err = pyenv.Ask(ctx, a.host.WithoutKeys(s), python, "-E", "-c", demoGenerator, data)
	}
	if err == nil {
		err = os.Rename(data, dir)
	}
	if err != nil && !isFolder(dir) { // another demo may have been faster
		return "", fmt.Errorf("write the example's data: %w", err)
	}
	return dir, nil
}

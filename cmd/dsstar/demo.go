package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
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

func (a *app) demoCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Answer a question about shipped data, with recorded model replies",
		Long: `Answer a question about shipped data. The model's replies are recorded, so no model
is needed; everything else is live. The data are generated once, in your cache
folder.`,
		Example: "  dsstar demo\n  dsstar demo --out demo-run --json",
		Args:    noArgs,
	}
	flags.add(cmd.Flags())
	kernelFlags(cmd.Flags())
	sandboxFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.mayReview(flags); err != nil {
			return err
		}
		if err := flags.checkOut(); err != nil {
			return err
		}
		s, err := a.demoSettings(cmd.Flags())
		if err != nil {
			return err
		}
		model, err := demoReplies()
		if err != nil {
			return err
		}
		question := strings.TrimSpace(demoQuestion)
		j := job{
			runFlags: flags, settings: s, here: true, progress: a.runProgress(flags),
			model: model, shown: true, goOn: append(a.line.Only(lasting...), usage.Flag{Name: "model", Value: demoModel}),
		}
		defer j.progress.Stop()
		a.host.Managed = true // the recorded cells need its packages
		j.progress.Say("demo     %s", demoNotice)
		j.progress.Say("question %s", question)
		if err := j.setUp(cmd.Context(), a); err != nil {
			return err
		}
		if j.site.About().Server != "" {
			return usage.New("the demo runs only on this machine", usage.Shell("dsstar demo"))
		}
		j.progress.Wait("writing the example's data")
		data, err := a.demoData(cmd.Context(), s, j.site.About().Spec)
		if err != nil {
			return err
		}
		if j.sources, err = a.sources(cmd.Context(), &j, []string{data}); err != nil {
			return err
		}
		if j.task, err = newTask(cmd.Context(), question, strings.TrimSpace(demoGuidelines), j.sources, nil,
			false); err != nil {
			return err
		}
		return a.answer(cmd.Context(), j)
	}
	return cmd
}

// demoModel is the model name of the demo's recorded replies, for resuming the demo.
const demoModel = configs.DemoModel

func demoReplies() (llm.Model, error) {
	exchanges, err := llm.ReadTrace(bytes.NewReader(demoTrace))
	return llm.Replay(exchanges, true), err // packages of other versions print other things
}

// demoSettings returns the user's settings for the kernel and folders. The loop has the defaults,
// with which the recording was made.
func (a *app) demoSettings(flags *pflag.FlagSet) (*configs.Settings, error) {
	user, err := a.settings(flags)
	if err != nil {
		return nil, err
	}
	s, err := configs.Load(configs.Sources{})
	if err != nil {
		return nil, err
	}
	s.Python, s.Kernel, s.Jobs, s.Out = user.Python, user.Kernel, user.Jobs, user.Out
	s.Chosen, s.Model = user.Chosen, demoModel
	s.CellTimeout, s.StartTimeout, s.Warnings = user.CellTimeout, user.StartTimeout, user.Warnings
	s.Rollback, s.Sandbox, s.AllowNet, s.AllowMultiprocessing = user.Rollback, user.Sandbox, user.AllowNet, user.AllowMultiprocessing
	s.AllowRead, s.AllowWrite, s.AllowEnv = user.AllowRead, user.AllowWrite, user.AllowEnv
	s.MaxMemory, s.MaxProcesses, s.MaxFile, s.MaxFolder = user.MaxMemory, user.MaxProcesses, user.MaxFile, user.MaxFolder
	return s, nil
}

// demoData returns the example's data folder in the cache. It is created atomically on first use.
func (a *app) demoData(ctx context.Context, s *configs.Settings, spec kernel.Spec) (string, error) {
	python, err := spec.Program(a.host.Env)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(demoGenerator))
	dir := filepath.Join(a.host.CacheDir, "demo-"+hex.EncodeToString(sum[:4]))
	if err := a.checkCache(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(a.host.CacheDir, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock")
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("write the example's data: %w", err)
	}
	defer lock.Close()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", fmt.Errorf("write the example's data: %w", err)
	}
	env := a.host.WithoutKeys(s)
	if _, err := pyenv.Ask(ctx, env, python, "-E", "-c", demoGenerator, part); err != nil {
		return "", fmt.Errorf("write the example's data: %w", err)
	}
	return dir, os.Rename(part, dir)
}

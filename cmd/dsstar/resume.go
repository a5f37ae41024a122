package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"dsstar/agent"
	"dsstar/agent/llm"
)

const resumeHelp = `Go on with a run: one that was stopped, one whose notebook you have edited, or,
with --ask, one that is finished and gets another question.

RUN is the run folder, or a notebook in it. No request that the model has answered
is made again. The accepted cells run again in a new kernel; budgets count from
here, and the method is the one that the run was begun with.

In the notebook you can
  change, add, remove and reorder the code cells between set-up and answer
  change the words of a step: its cell is then written anew
  change the last cell
  change data_dir in the parameters cell: another data folder
  leave a note to the agent: a Markdown cell with the tag dsstar:note
Cells run again from the first change on, yours as they are; then the plan is
judged, and the run goes on from there to a new proof. When a cell of yours fails,
the notebook stays as it is.

` + exitHelp

const resumeExample = `  dsstar resume dsstar-runs/2026-11-21-which-store-sold-most
  dsstar resume --max-cost 1 RUN                     after a spent budget
  dsstar resume --ask "And the year before?" RUN`

func (a *app) resumeCommand() *cobra.Command {
	var question, guidelines string
	var flags runFlags
	cmd := &cobra.Command{
		Use:     "resume [flags] RUN",
		Short:   "Go on with a run that was stopped, edited, or gets another question",
		Long:    resumeHelp,
		Example: resumeExample,
	}
	cmd.Flags().StringVar(&question, "ask", "", "another question, for the same session")
	cmd.Flags().StringVarP(&guidelines, "guidelines", "g", "", "the form of the answer to --ask: TEXT, or @FILE")
	flags.addCommon(cmd.Flags())
	settingFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &usageError{fmt.Sprintf("one run is wanted, and %d are given", len(args)), []string{"dsstar resume RUN", "ls -d dsstar-runs/*   # the runs of this folder"}}
		}
		flags.again = sameCommand(cmd, args, "--yes")
		form, err := a.guidelines(guidelines)
		if err != nil {
			return err
		}
		if form != "" && question == "" {
			return &usageError{"--guidelines are for the question of --ask", []string{`dsstar resume --ask "question" --guidelines TEXT ` + quoteShell(args[0])}}
		}
		s, err := a.settings(cmd.Flags())
		if err != nil {
			return err
		}
		if err := checkBudget(s); err != nil {
			return err
		}
		j := job{runFlags: flags, settings: s, progress: a.newProgress(flags.quiet)}
		defer j.progress.stop()
		return a.resume(cmd.Context(), j, args[0], strings.TrimSpace(question), form)
	}
	return cmd
}

// resume goes on with the run at path. Everything that can be wrong is looked at
// before anything is set up.
func (a *app) resume(ctx context.Context, j job, path, question, form string) error {
	folder, t, err := openRun(path)
	if err != nil {
		return err
	}
	release, err := folder.Lock()
	if err != nil {
		return err
	}
	defer release()
	data := filepath.FromSlash(t.Task.Data)
	if !filepath.IsAbs(data) {
		data = filepath.Join(string(folder), data)
	}
	var now []agent.File
	if t.Task.Data != "" {
		if now, t.Task.Unread, err = listData(ctx, data); err != nil {
			return err
		}
		j.task.Data = data
	}
	if question != "" {
		if err := t.Ask(question, form); err != nil {
			return &usageError{err.Error(), []string{"dsstar resume " + quoteShell(path)}}
		}
	}
	j.progress.say("run      %s", folder)
	if agent.Finished(t, now, j.settings.MaxRounds) {
		j.progress.say("finished there is nothing left to do, and no change in the notebook")
		return a.conclude(j, t, folder, nil)
	}
	for _, what := range t.Edits() {
		j.progress.say("edited   %s", what)
	}
	if question != "" {
		j.progress.say("question %s", question)
	}
	exchanges, err := answered(folder)
	if err != nil {
		return err
	}
	if err := a.models(&j); err != nil {
		return err
	}
	j.progress.say("model    %s", a.modelLine(j.settings))
	if err := j.setUp(ctx, a); err != nil {
		return err
	}
	return a.carryOut(ctx, j, folder, func(ctx context.Context, config agent.Config) (*agent.Trajectory, error) {
		config.Answered = exchanges
		return agent.Resume(ctx, config, t, now)
	})
}

// openRun reads the run that an argument names: its folder, or its notebook.
func openRun(arg string) (agent.Folder, *agent.Trajectory, error) {
	bad := func(hint, format string, args ...any) (agent.Folder, *agent.Trajectory, error) {
		return "", nil, &usageError{fmt.Sprintf(format, args...), []string{hint}}
	}
	path, err := filepath.Abs(arg)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return bad("ls -d dsstar-runs/*   # the runs of this folder", "there is no run %s", printable(arg))
	}
	if err != nil {
		return bad("ls -l "+quoteShell(arg), "the run: %v", err)
	}
	folder := agent.Folder(path)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder = agent.Folder(filepath.Dir(path))
		if path != folder.Notebook() {
			return bad("dsstar rerun "+quoteShell(arg)+"   # runs any notebook again", "%s is not the notebook of a run, which is notebook.ipynb", printable(arg))
		}
	}
	if _, err := os.Stat(folder.Notebook()); errors.Is(err, os.ErrNotExist) {
		return bad("ls "+quoteShell(string(folder)), "%s is not a run folder: it has no notebook.ipynb", printable(arg))
	}
	nb, err := openNotebook(folder.Notebook())
	if err != nil {
		return "", nil, err
	}
	t, err := agent.ReadTrajectory(nb)
	if err != nil {
		return bad("dsstar resume --help   # what can be changed in a notebook", "%s: %v", printable(folder.Notebook()), err)
	}
	return folder, t, nil
}

// answered reads what the model has answered in the run so far.
func answered(folder agent.Folder) ([]llm.Exchange, error) {
	f, err := os.Open(folder.Trace())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the notebook is enough
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	exchanges, err := llm.ReadTrace(f)
	if err != nil {
		return nil, &usageError{fmt.Sprintf("the trace %s: %v", folder.Trace(), err), []string{
			"mv " + quoteShell(folder.Trace()) + " " + quoteShell(folder.Trace()+".bad") + "   # the notebook is enough to go on from"}}
	}
	return exchanges, nil
}

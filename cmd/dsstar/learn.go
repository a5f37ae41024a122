package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
)

const learnHelp = `Learn about data from a verified run. The model proposes what it teaches: facts
with their sources, and at most three functions, cut from the accepted cells. A
function is admitted if, in a fresh process, it gives values that the run has
printed. What is added to the memory is shown, and on a terminal asked about, before
it is kept. A run that is not verified teaches nothing: exit code 3.`

func (a *app) learnCommand() cli.Command {
	var flags runFlags
	return cli.Command{
		Use: "learn [flags] [RUN]", Short: "Add what a verified run teaches to the memory of its data",
		Long: learnHelp, Example: "  dsstar learn dsstar-runs/2026-11-21-which-store-sold-most", Args: a.oneRun("run"),
		Flags: []cli.Flag{
			cli.Opt(&flags.quiet, "quiet,q", "Output", "no progress on standard error"),
			cli.Opt(&flags.yes, "yes,y", "Output", "do not ask before the memory is changed"), flags.binding(),
		},
		Settings: "all",
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			c.Settings.Learn = true
			return a.withJob(flags, c.Settings, func(j job) error {
				j.learns, a.stdout = true, io.Discard // the answer is known
				return a.resume(ctx, j, c.Args[0], wish{})
			})
		},
	}
}

var errNotLearned = errors.New("nothing is learned, as the run is not verified")

// notLearned says why a finished run teaches nothing, and what makes it verified.
func notLearned(t *record.Trajectory, folder record.Folder) error {
	e := &usage.Stopped{Err: errNotLearned, Text: t.InWords()}
	for _, c := range chooseable(t) {
		option := t.Questions[c.question].Readings[c.reading].Options[c.option].Text
		e.Hints = append(e.Hints, usage.Shell("dsstar resume --learn --choose %s %s   # if this is meant: "+
			ui.Fit(option, 200), c.name, string(folder)))
	}
	return e
}

// learned adds what a verified run teaches to the memory of its data, after showing it.
func (a *app) learned(ctx context.Context, j job, t *record.Trajectory, folder record.Folder) error {
	if !j.settings.Learn || !t.Verified() || j.memory == nil {
		return nil
	}
	m := j.memory
	if t.Learned != nil {
		tools := slices.Clone(t.Learned.Tools)
		for i := range tools {
			tools[i].Test = "# " + t.Task.Question + "\n" + tools[i].Test
		}
		taken := m.Learn(t.Learned.Facts, tools)
		for _, name := range taken {
			j.progress.Say("left out the function %s: there is one of this name", name)
		}
		for _, out := range t.Learned.LeftOut {
			j.progress.Say("left out %s", out)
		}
	}
	q := memory.Question{Question: t.Task.Question, Guidelines: t.Task.Guidelines, Answer: t.Answer(),
		Notebook: folder.Notebook(), Asked: t.Started.UTC().Truncate(time.Second)}
	for _, r := range t.Readings {
		if r.ByUser {
			q.Readings = append(q.Readings, r.Chose())
			m.Learn([]lesson.Fact{{Text: r.Chose(), Source: "a person's choice for the question: " + q.Question}}, nil)
		}
	}
	m.AddQuestion(q)
	return a.keepMemory(ctx, j)
}

// keepMemory shows what is added to a memory and, on a terminal, asks before it writes them.
func (a *app) keepMemory(ctx context.Context, j job) error {
	m := j.memory
	changes := m.Changes()
	if len(changes) == 0 {
		return nil
	}
	for _, c := range changes {
		j.progress.Paste("memory   %s", filepath.Join(m.Dir, c.Name))
		for line := range strings.Lines(memory.Without(c.After, c.Before)) {
			if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" {
				j.progress.Paste("         + %s", ui.Cut(ui.Clean(line), 160))
			}
		}
	}
	if a.stdinTTY && a.stderrTTY && !j.yes && !j.quiet {
		j.progress.Wait("")
		err := a.ask(ctx, "         Keep this? [y/N] ")
		if errors.Is(err, errDeclined) {
			j.progress.Say("memory   is unchanged")
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := m.Save(); err != nil {
		return fmt.Errorf("write the memory of the data: %w", err)
	}
	return nil
}

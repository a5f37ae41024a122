package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"dsstar/cmd/dsstar/internal/learn"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

const learnHelp = `Learn about data from runs, or from questions.

dsstar learn RUN... has the model propose what verified runs teach: facts with their
sources, and at most three functions each, cut from the accepted cells. A function
is admitted if, in a fresh process, it gives values that the run has printed. What
is added to the memory is shown, and on a terminal asked about, before it is kept.

dsstar learn --from FILE asks the questions of a file, one in each line, perhaps with
"=> ANSWER" at its end; with --make N the model makes N questions from the profiles of
the files, which are shown. All but every third are answered with --learn. Then one
request proposes what makes the memory smaller and more general: functions that replace
others, facts that are merged or withdrawn. A function replaces others if it gives the
values of all their cases, and every verified question that uses them still gives its
answer with it. The questions held back are then answered with the revised memory, and
without memory. The revised memory is kept if no held-back answer that was right, or
verified where none is given, is lost. Otherwise they are answered with what was learned
before the revision; if an answer is lost by that, too, the memory stays as it was.`

func (a *app) learnCommand() *cobra.Command {
	var f ahead
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "learn [flags] RUN... | --from FILE --data PATH | --make N --data PATH",
		Short: "Add what verified runs teach to the memory of their data",
		Long:  learnHelp,
		Example: "  dsstar learn dsstar-runs/2026-11-21-which-store-sold-most\n" +
			"  dsstar learn --from questions.txt --data ./data\n" +
			"  dsstar learn --make 9 --data ./data",
	}
	cmd.Flags().StringVar(&f.from, "from", "", "a file of questions, one in each line")
	cmd.Flags().IntVar(&f.make, "make", 0, "have the model make this many questions about the data, from 3 to 30")
	cmd.Flags().StringArrayVarP(&f.data, "data", "d", nil, "with --from or --make: the data, as for dsstar nb")
	cmd.Flags().BoolVarP(&flags.quiet, "quiet", "q", false, "no progress on standard error")
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "do not ask before the memory is changed")
	settingFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(args); err != nil {
			return err
		}
		s, err := a.settings(cmd.Flags())
		if err != nil {
			return err
		}
		s.Learn = true
		if len(args) == 0 {
			return a.learnAhead(cmd.Context(), s, flags, f)
		}
		if args, err = a.namedRuns(args); err != nil {
			return err
		}
		for _, run := range args {
			if err := a.learnRun(cmd.Context(), s, flags, run); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// learnRun has one run teach what it can.
func (a *app) learnRun(ctx context.Context, s *configs.Settings, flags runFlags, run string) error {
	stdout := a.stdout
	a.stdout = io.Discard // the answer is known
	defer func() { a.stdout = stdout }()
	own := *s
	j := job{runFlags: flags, settings: &own, progress: a.runProgress(flags), goOn: a.line.Only(lasting...)}
	defer j.progress.Stop()
	return a.resume(ctx, j, run, wish{})
}

// ahead is where the questions of dsstar learn come from: a file, or the model.
type ahead struct {
	from string
	make int
	data []string
}

// check checks the flags.
func (f ahead) check(runs []string) error {
	ways := 0
	for _, given := range []bool{f.from != "", f.make != 0, len(runs) > 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return usage.New("name runs to learn from, or --from FILE, or --make N", usage.Shell("dsstar runs"),
			usage.Shell("dsstar learn --help"))
	case f.make != 0 && (f.make < fewestMade || f.make > mostMade):
		return usage.New(fmt.Sprintf("--make: from %d to %d questions", fewestMade, mostMade),
			usage.Again("--make", "9"))
	case len(runs) == 0 && len(f.data) == 0:
		return usage.New("no data are given", usage.Again("--data", "PATH"))
	}
	return nil
}

// The questions that can be made at once. Of fewer, none would be held back.
const fewestMade, mostMade = 3, 30

// learnAhead learns from questions in a memory of its own, and keeps it if it does no harm.
func (a *app) learnAhead(ctx context.Context, s *configs.Settings, flags runFlags, f ahead) (err error) {
	j := job{runFlags: flags, settings: s, progress: a.newProgress(flags.quiet)}
	defer j.progress.Stop()
	var lessons []learn.Lesson
	if f.from != "" {
		if lessons, err = readLessons(f.from); err != nil {
			return err
		}
	}
	if j.sources, err = a.sources(ctx, &j, f.data); err != nil {
		return err
	}
	if err := a.remember(ctx, &j); err != nil {
		return err
	}
	if j.memory == nil {
		return usage.New("memory is off", usage.Again("--memory", "auto"))
	}
	st, err := a.study(ctx, j)
	if err != nil {
		return err
	}
	defer st.close()
	if f.make > 0 {
		if lessons, err = st.makeQuestions(ctx, f.make); err != nil {
			return err
		}
	}
	kept, err := a.loop(j, st, f.data).Run(ctx, j.memory, lessons)
	if err != nil {
		return err
	}
	if !kept {
		return silent{exitNotVerified}
	}
	return a.keepMemory(ctx, j, j.memory)
}

func readLessons(path string) ([]learn.Lesson, error) {
	lessons, err := learn.Read(path)
	if errors.Is(err, learn.ErrNone) {
		return nil, usage.New("--from: there is no question in "+path, usage.Shell("head %s", path))
	}
	if err != nil {
		return nil, usage.New(fmt.Sprintf("--from: %v", err), usage.Shell("ls -l %s", path))
	}
	return lessons, nil
}

// loop is the loop on the data of a job.
func (a *app) loop(j job, st *study, data []string) learn.Loop {
	return learn.Loop{
		Dir: filepath.Join(st.dir, "memory"),
		Ask: func(ctx context.Context, l learn.Lesson, memory string, learns bool) (learn.Outcome, error) {
			settings := *j.settings
			settings.Memory, settings.Learn = memory, learns
			r, err := a.askAside(ctx, settings, runFlags{quiet: j.quiet, yes: true, json: true, anew: !learns}, data, l)
			return learn.Outcome{Answer: r.Answer, Verified: r.Verified, Calls: r.Usage.Calls,
				Tokens: r.Usage.InputTokens}, err
		},
		Revise: st.revise,
		Show:   func(trials []learn.Trial, title string) { learn.Print(a.stdout, trials, title) },
		Warn:   j.progress.Warn,
	}
}

// askAside answers a question as dsstar nb does, and returns what --json prints. An answer that is not
// verified is no error.
func (a *app) askAside(ctx context.Context, s configs.Settings, flags runFlags, data []string,
	l learn.Lesson) (r result, err error) {
	j := job{runFlags: flags, settings: &s, progress: a.newProgress(flags.quiet)}
	defer j.progress.Stop()
	if j.sources, err = a.sources(ctx, &j, data); err != nil {
		return r, err
	}
	var out bytes.Buffer
	stdout := a.stdout
	a.stdout = &out
	defer func() { a.stdout = stdout }()
	err = a.ready(ctx, &j, l.Question, l.Form, false)
	if err == nil {
		err = a.answer(ctx, j)
	}
	if quiet, ok := errors.AsType[silent](err); ok && quiet.code == exitNotVerified {
		err = nil
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

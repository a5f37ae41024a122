package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"dsstar/agent"
	"dsstar/agent/memory"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

const learnHelp = `Learn about data from runs, or from questions.

dsstar learn RUN... has the model propose what verified runs teach: facts with their
sources, and at most three functions each, cut from the accepted cells. A function
is admitted if, in a fresh process, it gives values that the run has printed. What
is added to the memory is shown, and on a terminal asked about, before it is kept.

dsstar learn --from FILE asks the questions of a file, one in each line, perhaps with
"=> ANSWER" at its end. All but every third are answered with --learn. Those held
back are then answered with what was learned, and without it. Functions and facts
stay if no held-back answer that was right, or verified where none is given, is
lost; otherwise the memory is as it was.`

func (a *app) learnCommand() *cobra.Command {
	var from string
	var data []string
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "learn [flags] RUN... | --from FILE --data PATH",
		Short: "Add what verified runs teach to the memory of their data",
		Long:  learnHelp,
		Example: "  dsstar learn dsstar-runs/2026-11-21-which-store-sold-most\n" +
			"  dsstar learn --from questions.txt --data ./data",
	}
	cmd.Flags().StringVar(&from, "from", "", "a file of questions, one in each line")
	cmd.Flags().StringArrayVarP(&data, "data", "d", nil, "with --from: the data, as for dsstar nb")
	cmd.Flags().BoolVarP(&flags.quiet, "quiet", "q", false, "no progress on standard error")
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "do not ask before the memory is changed")
	settingFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (from == "") == (len(args) == 0) {
			return usage.New("name runs to learn from, or --from FILE", usage.Shell("dsstar runs"),
				usage.Shell("dsstar learn --help"))
		}
		s, err := a.settings(cmd.Flags())
		if err != nil {
			return err
		}
		s.Learn = true
		if from != "" {
			return a.learnFrom(cmd.Context(), s, flags, from, data)
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

// heldBack is how many questions there are for each one that is held back.
const heldBack = 3

// A lesson is a question to learn from, or to try the memory on.
type lesson struct{ question, answer string }

// A heldOut is how a held-back question went.
type heldOut struct {
	lesson
	with, without result
}

// learnFrom learns from questions in a memory of its own, tries it on those held back, and keeps it if
// it does no harm.
func (a *app) learnFrom(ctx context.Context, s *configs.Settings, flags runFlags, from string, data []string) error {
	lessons, err := readLessons(from)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return usage.New("no data are given", usage.Again("--data", "PATH"))
	}
	j := job{runFlags: flags, settings: s, progress: a.newProgress(flags.quiet)}
	defer j.progress.Stop()
	if j.sources, err = a.sources(ctx, data, j.progress.Wait); err != nil {
		return err
	}
	if err := a.remember(&j); err != nil {
		return err
	}
	if j.memory == nil {
		return usage.New("memory is off", usage.Again("--memory", "auto"))
	}
	dir, err := disk.TempFolder("", "dsstar-proof-")
	if err != nil {
		return err
	}
	defer func() { _ = disk.RemoveTemp(dir) }() // the next start removes what stays
	own := *s
	own.Memory = filepath.Join(dir, memory.Name)
	draft, err := memory.Read(own.Memory)
	if err != nil {
		return err
	}
	if err := draft.Take(j.memory); err != nil {
		return err
	}
	if err := draft.Save(); err != nil {
		return err
	}
	ask := func(l lesson, memory string, learn bool) (result, error) {
		settings := own
		settings.Memory, settings.Learn = memory, learn
		return a.askAside(ctx, settings, runFlags{quiet: flags.quiet, yes: true, json: true, anew: !learn},
			data, l.question)
	}
	var trials []heldOut
	for i, l := range lessons {
		if i%heldBack == heldBack-1 {
			trials = append(trials, heldOut{lesson: l})
		} else if _, err := ask(l, own.Memory, true); err != nil {
			return err
		}
	}
	for i, t := range trials {
		if trials[i].with, err = ask(t.lesson, own.Memory, false); err == nil {
			trials[i].without, err = ask(t.lesson, "off", false)
		}
		if err != nil {
			return err
		}
	}
	lost := a.showTrials(trials)
	if lost > 0 {
		j.progress.Warn("the memory is as it was: with what was learned, %s of those held back is lost",
			human.Plural(lost, "answer"))
		return silent{exitNotVerified}
	}
	if draft, err = memory.Read(own.Memory); err != nil {
		return err
	}
	if err := j.memory.Take(draft); err != nil {
		return err
	}
	return a.keepMemory(ctx, j, j.memory)
}

// readLessons reads the questions of a file. Empty lines and those that begin with # are none.
func readLessons(path string) (all []lesson, err error) {
	b, err := disk.ReadFile(path, disk.MaxText)
	if err != nil {
		return nil, usage.New(fmt.Sprintf("--from: %v", err), usage.Shell("ls -l %s", path))
	}
	for line := range strings.Lines(string(b)) {
		question, answer, _ := strings.Cut(line, "=>")
		if question = strings.TrimSpace(question); question != "" && question[0] != '#' {
			all = append(all, lesson{question, strings.TrimSpace(answer)})
		}
	}
	if len(all) == 0 {
		return nil, usage.New("--from: there is no question in "+path, usage.Shell("head %s", path))
	}
	return all, nil
}

// askAside answers a question as dsstar nb does, and returns what --json prints. An answer that is not
// verified is no error.
func (a *app) askAside(ctx context.Context, s configs.Settings, flags runFlags, data []string,
	question string) (r result, err error) {
	j := job{runFlags: flags, settings: &s, progress: a.newProgress(flags.quiet)}
	defer j.progress.Stop()
	if j.sources, err = a.sources(ctx, data, j.progress.Wait); err != nil {
		return r, err
	}
	var out bytes.Buffer
	stdout := a.stdout
	a.stdout = &out
	defer func() { a.stdout = stdout }()
	err = a.ready(ctx, &j, question, "", false)
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

// showTrials prints how the held-back questions went, and returns how many answers were lost.
func (a *app) showTrials(trials []heldOut) (lost int) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "HELD BACK\tWITH\tCALLS\tTOKENS\tWITHOUT\tCALLS\tTOKENS")
	for _, t := range trials {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%d\t%d\n", term.Fit(term.Printed(t.question), 48),
			t.standing(t.with), t.with.Usage.Calls, t.with.Usage.InputTokens,
			t.standing(t.without), t.without.Usage.Calls, t.without.Usage.InputTokens)
		if t.good(t.without) && !t.good(t.with) {
			lost++
		}
	}
	_ = w.Flush() // what cannot be shown is kept all the same
	return lost
}

// good reports whether an answer is right or, if none is given, verified.
func (l lesson) good(r result) bool {
	if l.answer == "" {
		return r.Verified
	}
	return agent.SameAnswer(r.Answer, l.answer)
}

func (l lesson) standing(r result) string {
	said := term.Fit(term.Printed(r.Answer), 24)
	switch {
	case l.answer != "" && l.good(r):
		said += ", right"
	case l.answer != "":
		said += ", wrong"
	}
	if r.Verified {
		said += ", verified"
	}
	return said
}

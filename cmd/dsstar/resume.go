package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

const resumeHelp = `Continue a run that was stopped, or whose notebook you have edited. With --ask, ask
another question in the session of a finished run; with --drop, go back to before a
step of it. RUN is the run folder, or a notebook in it; without it, the newest run of
this folder.

A run that has an answer stays as it is: what follows goes on in a run folder beside
it, or that of --out. Budgets count from here; method and models stay those of the
run, the models unless a flag or variable names others.

In the notebook you can change, add, remove and reorder the code cells between set-up
and answer, change the last cell and data_dir in the parameters cell, and leave the
agent a note: a Markdown cell with the tag dsstar:note. Cells run again from the first
change on, yours unchanged. If one of yours fails, the notebook stays as it is.

` + exitHelp

const resumeExample = `  dsstar resume dsstar-runs/2026-11-21-which-store-sold-most
  dsstar resume --max-cost 1 RUN                     after a spent budget
  dsstar resume --ask "And the year before?" RUN
  dsstar resume --drop 2 --note "only the completed rides" RUN
  dsstar resume --choose 2 RUN                       when the answer depends on a reading
  dsstar resume --choose 1.2 RUN                     and when that of question 1 does`

func (a *app) resumeCommand() cli.Command {
	var w wish
	var flags runFlags
	own := []cli.Flag{
		cli.Opt(&w.question, "ask", "Method", "ask another question in the same session: TEXT, or @FILE"),
		cli.Opt(&w.form, "guidelines,g", "Method", "the form of the answer to --ask: TEXT, or @FILE"),
		cli.Opt(&w.drop, "drop", "Method",
			"go back to before this step of the plan: drop it and all after it"),
		cli.Opt(&w.note, "note", "Method", "with --drop: what to do otherwise, as a note in the notebook"),
		cli.Opt(&w.choose, "choose", "Method",
			"the option that is meant, of the readings that change the answer, "+
				"as --json names it: N, or QUESTION.N"),
	}
	return cli.Command{
		Use:   "resume [flags] [RUN]",
		Short: "Continue a run that was stopped or edited, or ask another question",
		Long:  resumeHelp, Example: resumeExample,
		Args: a.oneRun("run"), Flags: slices.Concat(own, []cli.Flag{flags.outFlag()}, flags.asking(), flags.common()), Settings: "all",
		Excludes: [][]string{{"choose", "drop", "ask"}},
		Needs:    [][]string{{"guidelines", "ask", "your question"}, {"note", "drop", "STEP"}},
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			if w.form, err = textOf("--guidelines", w.form); err != nil {
				return none, err
			}
			if w.question, err = textOf("--ask", w.question); err != nil {
				return none, err
			}
			if no := w.question == "" || w.question == "never"; no && c.Flags.Changed("ask") { // which dsstar nb takes
				return none, usage.New("--ask: no question is given", usage.Again("--ask", "your question"))
			}
			if c.Flags.Changed("drop") && w.drop == 0 {
				w.drop = -1 // it is refused
			}
			return a.withJob(flags, c.Settings, func(j job) error { return a.resume(ctx, j, c.Args[0], w) })
		},
	}
}

// A wish is what a resumed run is to do besides going on.
type wish struct {
	question, form string // a follow-up, and the form of its answer; "" for none
	choose         string // the option of a reading that is meant; "": none
	drop           int    // the first step to drop; 0: none
	note           string // to the agent, with drop
}

// do does to a trajectory what is wished.
func (w wish) do(t *record.Trajectory) error {
	if w.question != "" {
		if err := t.Ask(w.question, w.form); err != nil {
			return err
		}
	}
	if w.drop != 0 {
		if err := t.Drop(w.drop); err != nil {
			return err
		}
		if note := strings.TrimSpace(w.note); note != "" {
			t.AddNote(note, false)
		}
	}
	if w.choose != "" {
		return choose(t, w.choose)
	}
	return nil
}

// resume continues the run at path. All arguments are checked before anything is set up.
func (a *app) resume(ctx context.Context, j job, path string, w wish) error {
	r, err := findRun(path, a.key())
	if err != nil {
		return err
	}
	release, err := r.folder.Lock()
	switch {
	case errors.Is(err, syscall.EROFS): // nobody can be at work in it
	case err != nil:
		return err
	default:
		defer release()
	}
	content, err := disk.ReadPlain(r.path, disk.MaxDocument)
	if err != nil || !bytes.Equal(content, r.content) || isFolder(path) && newestIn(string(r.folder)) != r.path {
		return usage.New("the notebook has just been changed by another program", usage.Again())
	}
	was, err := page.Recorded(r.nb)
	if err != nil {
		return err
	}
	next := func() string { // where it went on from its answer
		if !was.Stands() {
			return ""
		}
		return wentOn(runsIn(filepath.Dir(string(r.folder)), a.key()), r.path, was)
	}
	// Where no sandbox confines the cells, what others may have written runs only if the user
	// agrees.
	j.perhapsTheirs = r.t.Adopted || len(r.t.Edits()) > 0
	if r.theirs && w != (wish{}) {
		return usage.New("another dsstar made this run, and what it says is to be found out again first",
			usage.Without("ask", "guidelines", "drop", "note", "choose"))
	}
	if r.theirs && r.t.Method.Script {
		return usage.New("another dsstar made this run in the paper's way: its question can be asked anew",
			usage.Shell("dsstar nb --paper --data PATH %s", r.t.Task.Question))
	}
	if j.sources, err = a.sourcesOf(r, j.settings); err != nil {
		return err
	}
	if err := a.host.Reopen(j.sources, j.settings, !r.theirs); err != nil {
		return err
	}
	now, err := r.dataFiles(ctx, j.sources)
	if err != nil {
		return err
	}
	if j.out == "" && w == (wish{}) && len(j.definitions) == 0 && !r.finished(ctx, now, j) {
		if next := next(); next != "" {
			return a.resume(ctx, j, next, w)
		}
	}
	j.task.Data, j.past = r.data(), true
	if w.question != "" && j.settings.Model == demoModel {
		return usage.New("the demo has recorded replies for its own question only",
			usage.Again("--model", "PROVIDER/MODEL"))
	}
	if err := w.do(r.t); err != nil {
		if _, ok := errors.AsType[*record.EditError](err); !ok {
			return err
		}
		if next := next(); next != "" {
			return usage.New(err.Error(), usage.Again().Args(next).Note("went on from it as it is now"))
		}
		return usage.New(err.Error(), usage.Shell("dsstar resume %s", path))
	}
	a.recallDemo(&j, r.t)
	j.progress.Folder(string(r.folder))
	if name := filepath.Base(r.path); name != filepath.Base(r.folder.Notebook()) {
		j.progress.Say("notebook %s: notebook.ipynb was edited while the run went on, "+
			"and is left alone", name)
	}
	if err := a.remember(ctx, &j); err != nil {
		return err
	}
	if err := a.define(&j); err != nil {
		return err
	}
	finished := r.finished(ctx, now, j)
	if finished && j.learns && !r.t.Verified() {
		return notLearned(r.t, r.folder)
	}
	j.teaches = finished && j.settings.Learn && r.t.Verified() && r.t.Learned == nil
	if finished && !j.teaches {
		j.progress.Say("finished there is nothing left to do")
		if name := otherFile(r.folder, r.t); name != "" {
			j.progress.Warn("%s is not as it was proved: it was changed or removed since; dsstar rerun %s "+
				"-o PATH makes it again", ui.Printable(record.FilesFolder+"/"+name), human.Shell(string(r.folder)))
		}
		return a.conclude(ctx, j, r.t, r.folder, continued(r, a.key()), nil)
	}
	var once []string
	lacks := false
	for _, q := range slices.Concat(r.t.Questions, r.t.Later) {
		for _, d := range q.Definitions {
			if d.Once && !slices.Contains(once, d.Root) {
				named := func(a agent.Approved) bool { return a.Root == d.Root }
				lacks = lacks || !slices.ContainsFunc(j.approved, named)
				once = append(once, "--definitions", d.Root)
			}
		}
	}
	if lacks {
		return usage.New("the run rests on definitions that --definitions approved", usage.Again(once...))
	}
	if was.Stands() && !j.teaches {
		j.stands, j.settings.Out = r.path, filepath.Dir(string(r.folder)) // beside it
	} else if j.out == "" {
		j.out = string(r.folder)
	}
	r.tell(j.progress, w.question, r.t.DataChanges(now), agent.ChangedDefinition(ctx, r.t))
	if j.settings.Kernel == "" && r.t.Answer() == "" && r.t.Earlier() == 0 &&
		(r.t.Task.Data == "" || len(r.t.Variables) > 0) {
		return usage.New("the run uses the variables of a running kernel and has not finished: "+
			"name that kernel",
			usage.Again("--kernel", "NAME"),
			usage.Shell("dsstar kernels   # those that are running"))
	}
	if err := a.recall(&j, r.t); err != nil {
		return err
	}
	if err := a.models(&j); err != nil {
		return err
	}
	j.progress.Skipped(r.t.Task)
	if err := j.setUp(ctx, a); err != nil {
		return err
	}
	folder, saver := r.folder, continued(r, a.key())
	if j.out != string(r.folder) {
		var release func()
		folder, saver, release, err = a.goOn(&j, r, w.question)
		if release != nil {
			defer release()
		}
		if err != nil {
			return err
		}
	}
	return a.carryOut(ctx, j, folder, saver,
		func(ctx context.Context, config agent.Config) (*record.Trajectory, error) {
			return agent.Resume(ctx, config, r.t, now)
		})
}

// wentOn returns the run among all that goes on from a notebook as it is now, whose answer is was, with
// no other question; "" if there is none.
func wentOn(all []listedRun, path string, was *record.Trajectory) string {
	from := ""
	for _, r := range all {
		if r.Claimed || r.t.From == "" || len(r.t.Questions)+len(r.t.Later) != len(was.Questions) {
			continue
		}
		if from == "" { // only now: it reads all of the notebook
			content, err := disk.ReadPlain(path, disk.MaxDocument)
			if err != nil {
				return ""
			}
			from = digestOf(content)
		}
		if r.t.From == from {
			return r.Run
		}
	}
	return ""
}

func digestOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// goOn begins the folder in which a run goes on, so that the one that it has stays as it is.
func (a *app) goOn(j *job, r pastRun, question string) (record.Folder, *saver, func(), error) {
	task := &r.t.Task
	j.calls, j.task.Question = r.t.Usage.Calls, cmp.Or(question, task.Question)
	task.Data, r.t.Started = r.data(), time.Now()
	if len(task.Sources) > 0 {
		task.Data = record.DataFolder
	}
	for i := range task.Sources {
		s := &task.Sources[i]
		at := slices.IndexFunc(j.sources, func(o files.Source) bool { return o.Name == s.Name })
		if s.Path = j.sources[at].Path; s.From != "" {
			s.Download = s.Path
		}
	}
	folder, s, release, err := a.begin(j, task)
	if err != nil {
		return "", nil, nil, err
	}
	if len(task.Sources) > 0 {
		j.task.Data = filepath.Join(string(folder), record.DataFolder)
	}
	r.t.From = digestOf(r.content)
	r.t.Journal.Move(string(folder))
	return folder, s, release, folder.CopyVariables(r.folder)
}

// lasting are the flags of a command line that a later resume needs, too.
var lasting = []string{
	"review", "model", "role-model", "base-url", "api-key-env", "context", "python",
	"kernel", "server", "definitions",
}

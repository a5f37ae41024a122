package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/configs"
	"dsstar/prompts"
)

// A job is one question to be answered, by whatever command.
type job struct {
	runFlags
	settings *configs.Settings
	task     agent.Task
	model    llm.Model
	ranker   llm.Ranker // nil: files are ranked by their words
	cache    *agent.Cache
	place    place
	progress *progress
}

// runFlags are the flags of the commands that answer a question.
type runFlags struct {
	out    string // the run folder; "" for a new one under settings.Out
	json   bool
	quiet  bool
	yes    bool   // attach to a kernel that is not ours without a question
	again  string // the same command line with --yes
	review bool   // ask before every cell
}

func (r *runFlags) add(f *pflag.FlagSet) {
	f.StringVarP(&r.out, "out", "o", "", "the run folder; must be new or empty")
	f.BoolVar(&r.json, "json", false, "print one JSON object instead of the answer")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVar(&r.review, "review", false, "ask before every cell: accept, edit, reject with a reason, stop")
	f.BoolVarP(&r.yes, "yes", "y", false, "attach to a running kernel without asking")
}

// setUp finds where the sessions are to be opened, which may take making the
// environment, or asking the user.
func (j *job) setUp(ctx context.Context, a *app) (err error) {
	if err := a.mayReview(j.runFlags); err != nil {
		return err
	}
	j.progress.wait("setting up Python")
	if j.place, err = a.place(ctx, j.settings, func(line string) { j.progress.say("set-up   %s", line) }); err != nil {
		return err
	}
	if j.place.guest != nil && j.settings.Method.Paper {
		return &usageError{"--paper runs every script in a fresh process, which a kernel that is not the run's own cannot be",
			[]string{`dsstar nb --paper --data DIR "question"   # without --kernel`}}
	}
	if err := a.consent(ctx, j); err != nil {
		return err
	}
	j.progress.wait("waiting for the kernel")
	folders := []string{existing(cmp.Or(j.out, j.settings.Out))}
	if j.task.Data != "" {
		folders = append(folders, j.task.Data)
	}
	return a.look(ctx, &j.place, j.settings, folders...)
}

// existing returns the path, made absolute, or the first folder above it that
// is there.
func existing(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// answer carries a job out: run folder, kernel, loop, result.
func (a *app) answer(ctx context.Context, j job) error {
	words, err := prompts.Load()
	if err != nil {
		return err
	}
	folder, err := j.folder()
	if err != nil {
		return err
	}
	task := j.task
	task.Data = dataFrom(string(folder), task.Data)
	trace, err := llm.OpenTrace(folder.Trace())
	if err != nil {
		return err
	}
	defer trace.Close()
	s := j.settings
	for _, w := range s.Warnings {
		j.progress.say("warning  %s", w)
	}
	j.progress.say("run      %s", folder)
	j.progress.wait("starting the kernel")
	config := agentConfig(s)
	config.Model, config.Open, config.Prompts, config.Dir = llm.Traced(j.model, trace), j.progress.watch(a.openAt(j.place, s)), words, string(folder)
	if j.ranker != nil {
		config.Ranker = llm.TracedRanker(j.ranker, trace)
	}
	config.Cache, config.Warnings, config.Observe, config.Stream = j.cache, j.place.warnings(), j.observer(folder), j.progress.stream
	config.Review = a.review(j)
	if config.Corrections, err = a.corrections(j.task.Data); err != nil {
		return err
	}
	t, err := agent.Run(ctx, config, task)
	j.progress.stop()
	return a.conclude(j, t, folder, err)
}

// agentConfig is the part of a run's configuration that is settings.
func agentConfig(s *configs.Settings) agent.Config {
	return agent.Config{
		Method: method(s.Method), Limits: agent.Limits{Calls: s.MaxCalls, Cost: s.MaxCost, Time: s.MaxTime},
		Price: prices(s), Context: s.Context, MaxTokens: s.MaxOutputTokens, Jobs: jobs(s.Jobs),
		MaxFiles: s.MaxFiles, MaxRounds: s.MaxRounds, DebugTries: s.DebugTries, TopK: s.TopK,
		ResultChars: s.ResultChars, DescriptionChars: s.DescriptionChars, ContextChars: s.ContextChars,
	}
}

// saveEvery bounds how often the notebook is saved while files are described:
// with thousands of them, a save for each would take longer than the rest. All
// other events, and the last description, are saved at once.
const saveEvery = 500 * time.Millisecond

// observer saves the notebook at every event and tells the user of it.
func (j job) observer(folder agent.Folder) func(agent.Event, *agent.Trajectory) error {
	var next time.Time
	described := 0
	return func(e agent.Event, t *agent.Trajectory) error {
		var err error
		if e.Kind == agent.Described {
			described++
		}
		if begin := time.Now(); e.Kind != agent.Described || described == len(t.Task.Files) || begin.After(next) {
			err = folder.Save(t)
			next = time.Now().Add(max(saveEvery, 10*time.Since(begin)))
		}
		j.progress.event(e, t)
		return err
	}
}

// A stoppedError is a run that ended before its end; its notebook is there.
type stoppedError struct {
	err    error
	folder agent.Folder
}

func (e *stoppedError) Error() string {
	return fmt.Sprintf("%v\nthe notebook up to there: %s", e.err, e.folder.Notebook())
}
func (e *stoppedError) Unwrap() error { return e.err }

var errConstant = errors.New("there is no answer: " + agent.ConstantAnswer)

// noAnswer says why a run to its end has no answer.
func noAnswer(t *agent.Trajectory) error {
	if t.Final == nil || len(t.Final.Attempts) == 0 {
		return errors.New("no cell printed an answer")
	}
	switch reason := t.Final.Attempts[len(t.Final.Attempts)-1].Execution.Reason; reason {
	case "":
		return errors.New("no cell printed an answer")
	case agent.ConstantAnswer:
		return errConstant
	default:
		return errors.New("there is no answer: " + reason)
	}
}

// conclude prints the result and turns what it is worth into an error; ended is
// what ended the run before its end, if anything did.
func (a *app) conclude(j job, t *agent.Trajectory, folder agent.Folder, ended error) error {
	r := newResult(t, folder, j.place.result())
	if ended == nil && t.Answer() == "" {
		ended = noAnswer(t)
	}
	var err error
	if j.json {
		err = printJSON(a.stdout, r)
	} else if ended == nil {
		_, err = fmt.Fprintln(a.stdout, t.Answer())
	}
	if err != nil {
		return err
	}
	if ended != nil {
		return &stoppedError{ended, folder}
	}
	spent := fmt.Sprintf("%s, %s, %d tokens in and %d out, %.0f s (model %.0f s, kernel %.0f s)",
		plural(r.Rounds, "round"), plural(r.Usage.Calls, "model call"),
		r.Usage.InputTokens, r.Usage.OutputTokens, r.Seconds.Total, r.Seconds.Model, r.Seconds.Kernel)
	if t.Verified() {
		j.progress.say("verified %s", spent)
	} else {
		j.progress.say("warning  NOT verified: %s", strings.Join(t.Doubts(), "; "))
		j.progress.say("spent    %s", spent)
	}
	j.progress.say("notebook %s", r.Notebook)
	if !t.Verified() {
		return silent{exitNotVerified}
	}
	return nil
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// newTask checks the data folder and lists it.
func newTask(ctx context.Context, question, guidelines, folder string) (agent.Task, error) {
	data, err := filepath.Abs(folder)
	if err != nil {
		return agent.Task{}, err
	}
	info, err := os.Stat(data)
	switch {
	case os.IsNotExist(err):
		return agent.Task{}, &usageError{"the data folder does not exist: " + folder, []string{"ls " + quoteShell(filepath.Dir(data))}}
	case err != nil:
		return agent.Task{}, &usageError{fmt.Sprintf("the data folder: %v", err), []string{"ls -ld " + quoteShell(data)}}
	case !info.IsDir():
		return agent.Task{}, &usageError{"not a folder: " + folder, []string{"dsstar nb --data " + quoteShell(filepath.Dir(data)) + " …"}}
	}
	// Not through a link: the run folder's way to it must be the real one.
	if data, err = filepath.EvalSymlinks(data); err != nil {
		return agent.Task{}, fmt.Errorf("the data folder: %w", err)
	}
	all, unread, err := files.List(ctx, data)
	if err != nil {
		return agent.Task{}, err
	}
	if len(all) == 0 {
		return agent.Task{}, &usageError{"the data folder has no data files: " + folder, []string{"ls -la " + quoteShell(data)}}
	}
	return agent.Task{Question: question, Guidelines: guidelines, Data: data, Files: all, Unread: unread}, nil
}

// jobs is how many kernels describe files at once: by default one a core, as
// each of them keeps a core busy, and no more than 4, as each takes memory.
func jobs(setting int) int {
	if setting > 0 {
		return setting
	}
	return min(runtime.NumCPU(), 4)
}

func (j job) folder() (agent.Folder, error) {
	if j.out != "" {
		return agent.CreateFolder(j.out)
	}
	return agent.NewFolder(j.settings.Out, j.task.Question, time.Now())
}

// retrying tells of a model call that will be repeated.
func (p *progress) retrying(r llm.Retry) {
	p.say("retry    %s for %s: %s; again in %.0f s", r.Role, r.Subject, r.Cause, r.Wait.Seconds())
}

// dataFrom returns how the notebook names the data folder: relative to the run
// folder where both lie in the current folder, so that a project can be moved
// or shared as a whole, else as it is.
func dataFrom(run, data string) string {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil || !inside(here, run) || !inside(here, data) {
		return data
	}
	rel, err := filepath.Rel(run, data)
	if err != nil {
		return data
	}
	return filepath.ToSlash(rel)
}

func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// quoteShell quotes a path so that a hint can be pasted.
func quoteShell(path string) string {
	if path == "" || strings.ContainsFunc(path, func(r rune) bool { return strings.ContainsRune(" '\"\\$`!*?&;|<>()[]{}#~\t\n", r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

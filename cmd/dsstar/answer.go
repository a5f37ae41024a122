package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
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
	here     bool    // kernels of this machine only
	keeper   *keeper // nil: no kernel stays
	progress *progress
	past     bool   // the run has begun before: what it needs of variables it has
	goOn     string // flags that must be given to resume the run
}

// runFlags are the flags of the commands that answer a question.
type runFlags struct {
	out    string // the run folder; "" for a new one under settings.Out
	json   bool
	quiet  bool
	yes    bool     // attach to a kernel that is not ours without a question
	review bool     // ask before every cell
	keep   bool     // the kernel stays at the end
	names  []string // that stay in a kernel that is not ours
	again  string   // the same command line with --yes
}

// checkOut refuses a run folder that has something in it, before anything is set up. It is looked at again, and made,
// when the run begins.
func (r *runFlags) checkOut() error {
	if r.out == "" {
		return nil
	}
	entries, err := os.ReadDir(r.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &usageError{fmt.Sprintf("--out: %v", err), []string{"mktemp -d   # gives a new folder for --out"}}
	case len(entries) > 0:
		return fmt.Errorf("--out %s: %w", r.out, agent.ErrInUse)
	}
	return nil
}

func (r *runFlags) add(f *pflag.FlagSet) {
	f.StringVarP(&r.out, "out", "o", "", "the run folder; must be new or empty")
	r.addCommon(f)
}

// addCommon adds those that also go for runs that have their folder.
func (r *runFlags) addCommon(f *pflag.FlagSet) {
	f.BoolVar(&r.json, "json", false, "print one JSON object instead of the answer")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVar(&r.keep, "keep-kernel", false, "leave the kernel running at the end, with all variables")
	f.BoolVar(&r.review, "review", false, "ask before every cell: accept, edit, reject with a reason, stop")
	f.BoolVarP(&r.yes, "yes", "y", false, "without asking: use kernels that are not sandboxed, as they run already or are a server's; describe many files")
}

// setUp finds where the sessions are to be opened, which may take making the
// environment, or asking the user.
func (j *job) setUp(ctx context.Context, a *app) (err error) {
	if err := a.mayReview(j.runFlags); err != nil {
		return err
	}
	if a.placeToKeep(ctx, j) {
		return j.forGuest()
	}
	j.progress.wait("setting up Python")
	if j.place, err = a.place(ctx, j.settings, func(line string) { j.progress.say("set-up   %s", line) }); err != nil {
		return err
	}
	if j.place.guest != nil && j.keep {
		return &usageError{"--keep-kernel: the kernel is not dsstar's, and stays in any case", []string{strings.Replace(j.again, " --keep-kernel", "", 1)}}
	}
	if j.place.guest != nil && j.settings.Rollback == "checkpoint" {
		return &usageError{"--rollback checkpoint: a kernel that is not the run's own goes back by names",
			[]string{strings.Replace(j.again, " --rollback checkpoint", "", 1)}}
	}
	if j.place.guest != nil && j.settings.Method.Paper {
		return &usageError{"--paper runs every script in a fresh process, which a kernel that is not the run's own cannot be",
			[]string{`dsstar nb --paper --data DIR "question"   # without --kernel`}}
	}
	if err := j.forGuest(); err != nil {
		return err
	}
	if err := a.consent(ctx, j); err != nil {
		return err
	}
	j.progress.wait("waiting for the kernel")
	return a.look(ctx, &j.place, j.settings, j.folders()...)
}

// folders are what kernels must see.
func (j *job) folders() []string {
	folders := []string{existing(cmp.Or(j.out, j.base()))}
	if j.task.Data != "" {
		folders = append(folders, j.task.Data)
	}
	return folders
}

// forGuest checks what is given against where the sessions are opened: a question
// about variables needs a kernel that has some.
func (j *job) forGuest() error {
	g := j.place.guest
	switch {
	case g != nil:
		g.keep = j.names
	case len(j.names) > 0:
		return &usageError{"--keep is for a kernel that is running already: the run's own ends with it",
			[]string{"dsstar kernels", `dsstar nb --kernel newest --keep NAME "question"`}}
	case j.task.Data == "" && !j.past && !j.here:
		return &usageError{"no data folder is given, and only a kernel that is running already has variables to ask about",
			[]string{`dsstar nb --data DIR "question"`, "dsstar kernels   # those that are running"}}
	}
	return nil
}

// base is the folder that run folders are made in.
func (j *job) base() string {
	here, err := os.Getwd()
	if err != nil || filepath.IsAbs(j.settings.Out) {
		return j.settings.Out
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return j.settings.Out
	}
	return filepath.Join(j.place.guest.beside(here), j.settings.Out) // relative to here for most
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

// answer carries a new job out.
func (a *app) answer(ctx context.Context, j job) error {
	folder, err := j.folder()
	if err != nil {
		return err
	}
	release, err := folder.Lock()
	if err != nil {
		return err
	}
	defer release()
	task := j.task
	if task.Data != "" {
		task.Data = dataFrom(string(folder), task.Data)
	}
	j.progress.say("run      %s", folder)
	return a.carryOut(ctx, j, folder, newSaver(folder), func(ctx context.Context, config agent.Config) (*agent.Trajectory, error) {
		return agent.Run(ctx, config, task)
	})
}

// carryOut runs the loop in a run folder: kernel, trace, result.
func (a *app) carryOut(ctx context.Context, j job, folder agent.Folder, saver *saver, run func(context.Context, agent.Config) (*agent.Trajectory, error)) error {
	words, err := prompts.Load()
	if err != nil {
		return err
	}
	if j.keep {
		j.keeper = &keeper{saver: saver, server: j.place.server}
	}
	trace, err := llm.OpenTrace(folder.Trace())
	if err != nil {
		return err
	}
	defer trace.Close()
	s := j.settings
	for _, w := range s.Warnings {
		j.progress.warn("%s", w)
	}
	j.progress.models(func(role string) string { return modelOf(s, role) })
	j.progress.wait("starting the kernel")
	j.place.show(folder, j.task.Data)
	if j.task.Data != "" {
		j.progress.say("data     %s", j.task.Data)
	}
	config := agentConfig(s)
	config.Sandbox = j.place.sandbox()
	config.Memory = j.place.memory()
	j.progress.say("sandbox  %s", config.Sandbox)
	config.Model, config.Open, config.Prompts, config.Dir = llm.Traced(j.model, trace), j.progress.watch(a.openAt(&j.place, s, j.keeper)), words, string(folder)
	config.RunScript = a.runScriptAt(&j.place, s)
	if j.ranker != nil {
		config.Ranker = llm.TracedRanker(j.ranker, trace)
	}
	config.Cache, config.Warnings, config.Observe, config.Stream = j.cache, j.place.warnings(), j.observer(saver), j.progress.stream
	config.Review, config.Agree = a.review(j), a.afford(j)
	if j.task.Data != "" {
		if config.Corrections, err = a.corrections(j.task.Data); err != nil {
			return err
		}
	}
	t, err := run(ctx, config)
	j.progress.stop()
	return a.conclude(ctx, j, t, folder, saver, err)
}

// show lets the cells of a run read its variables and its data, and keeps from them what else is in
// its folder.
func (p *place) show(folder agent.Folder, data string) {
	p.box.Own = append(slices.Clone(p.box.Own), string(folder))
	p.box.Read = append(slices.Clone(p.box.Read), folder.Variables())
	if data == "" {
		return
	}
	if !filepath.IsAbs(data) {
		data = filepath.Join(string(folder), data)
	}
	p.box.Read = append(p.box.Read, data)
}

// agentConfig is the part of a run's configuration that is settings.
func agentConfig(s *configs.Settings) agent.Config {
	return agent.Config{
		Method: method(s.Method), Limits: agent.Limits{Calls: s.MaxCalls, Cost: s.MaxCost, Time: s.MaxTime},
		Price: prices(s), Context: s.Context, MaxTokens: s.MaxOutputTokens, Jobs: jobs(s.Jobs),
		MaxFiles: s.MaxFiles, MaxRounds: s.MaxRounds, DebugTries: s.DebugTries, TopK: s.TopK,
		Readable: slices.Concat(s.AllowRead, s.AllowWrite), Private: func(path string) bool { return !sandbox.MayAdvise(path) },
		ResultChars: s.ResultChars, DescriptionChars: s.DescriptionChars, ContextChars: s.ContextChars,
	}
}

// saveEvery bounds how often the notebook is saved while files are described:
// with thousands of them, a save for each would take longer than the rest. All
// other events, and the last description, are saved at once.
const saveEvery = 500 * time.Millisecond

// observer saves the notebook at every event and tells the user of it.
func (j job) observer(saver *saver) func(agent.Event, *agent.Trajectory) error {
	var next time.Time
	described := 0
	return func(e agent.Event, t *agent.Trajectory) error {
		var err error
		if e.Kind == agent.Described {
			described++
		}
		if begin := time.Now(); e.Kind != agent.Described || described == len(t.Task.Files) || begin.After(next) {
			var warnings []string
			warnings, err = saver.save(t)
			for _, w := range warnings {
				j.progress.warn("%s", w)
			}
			next = time.Now().Add(max(saveEvery, 10*time.Since(begin)))
		}
		j.progress.event(e, t)
		return err
	}
}

// A stoppedError is a run that ended before its end; its notebook is there.
type stoppedError struct {
	err      error
	notebook string // its path
	run      string // the run folder
	with     string // flags that must be given to go on
}

func (e *stoppedError) Error() string {
	return fmt.Sprintf("%v\nthe notebook up to there: %s", e.err, e.notebook)
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
func (a *app) conclude(ctx context.Context, j job, t *agent.Trajectory, folder agent.Folder, saver *saver, ended error) error {
	r := newResult(t, folder, j.place.result(j.settings))
	r.Notebook, r.Script = saver.notebook.Path(), saver.script.Path()
	if ended == nil && t.Answer() == "" {
		ended = noAnswer(t)
	}
	kept, unregistered := j.keeper.result(ctx)
	r.KeptKernel = kept
	defer func() { j.keeper.tell(j.progress, kept, unregistered, ended) }()
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
		return &stoppedError{ended, r.Notebook, string(folder), j.goOn}
	}
	spent := fmt.Sprintf("%s, %s, %d tokens in and %d out, %.0f s (model %.0f s, kernel %.0f s)",
		plural(r.Rounds, "round"), plural(r.Usage.Calls, "model call"),
		r.Usage.InputTokens, r.Usage.OutputTokens, r.Seconds.Total, r.Seconds.Model, r.Seconds.Kernel)
	if t.Verified() {
		j.progress.sayIn(term.Good, "verified %s", spent)
	} else {
		j.progress.warn("NOT verified: %s", strings.Join(t.Doubts(), "; "))
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

// newTask checks the data folder and lists it, with what is included; without one
// the question is about variables alone. Names that are included and missing are an
// error if they are given for this folder: a setting may be for others, too.
func newTask(ctx context.Context, question, guidelines, folder string, include []string, given bool) (agent.Task, error) {
	if folder == "" {
		return agent.Task{Question: question, Guidelines: guidelines}, nil
	}
	data, err := filepath.Abs(folder)
	if err != nil {
		return agent.Task{}, err
	}
	if scheme := isURL.FindString(folder); scheme != "" { // the rest may be a password
		return agent.Task{}, &usageError{fmt.Sprintf("the data folder: a path is wanted, not a %s address: only folders of this machine are read", strings.TrimSuffix(scheme, "://")),
			[]string{`mkdir data && dsstar nb --data data "question"   # a folder with a copy of the data`}}
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
	for _, name := range include {
		if _, err := os.Stat(filepath.Join(data, name)); given && (!filepath.IsLocal(name) || err != nil) {
			return agent.Task{}, &usageError{fmt.Sprintf("--include: %s is not in the data folder, %s", name, data), []string{"ls -a " + quoteShell(data)}}
		}
	}
	task := agent.Task{Question: question, Guidelines: guidelines, Data: data, Include: include}
	return task, listData(ctx, &task, data)
}

var isURL = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://`)

// listData lists the data folder of a task. That it has no files is a usage error.
func listData(ctx context.Context, task *agent.Task, data string) error {
	all, err := files.List(ctx, data, task.Include)
	if err != nil {
		return err
	}
	task.Files, task.Unread, task.Skipped = all.Files, all.Unread, all.Skipped
	switch skipped := files.InWords(all.Skipped); {
	case len(all.Files) > 0:
		return nil
	case skipped != "":
		hints := []string{"dsstar nb --include . --data " + quoteShell(data) + " …   # skips nothing"}
		if name, folder := strings.CutSuffix(all.Skipped[0].Name, "/"); folder {
			hints = append(hints, "dsstar nb --data "+quoteShell(filepath.Join(data, name))+" …   # what is named is not skipped")
		}
		return &usageError{"the data folder has no data files but what is skipped: " + skipped, hints}
	}
	return &usageError{"the data folder has no data files: " + data, []string{"ls -la " + quoteShell(data)}}
}

// A priceError is an estimate above ask_above_tokens where nobody can be asked.
type priceError struct {
	text  string
	again string // the same command line, which goes on
}

func (e *priceError) Error() string { return e.text }

// anyPrice is the flag with which nobody is asked about a price.
const anyPrice = "--ask-above-tokens 0"

// afford tells what describing the files is likely to take, and asks where that is
// more than the setting allows without asking.
func (a *app) afford(j job) func(context.Context, agent.Estimate) error {
	return func(ctx context.Context, e agent.Estimate) error {
		cost := ""
		if e.Cost != nil {
			cost = fmt.Sprintf(", %.2f US dollars", *e.Cost)
		}
		what, question, rest := "describing "+plural(e.Files, "file"), "Describe them?", "the rounds come on top"
		if e.Ranking {
			what, question, rest = "ranking "+plural(e.Files, "file")+" by the embedding model", "Rank them?", "descriptions and rounds come on top"
		}
		about := fmt.Sprintf("%s: %s with about %s input tokens%s", what, plural(e.Calls, "model call"), count(e.InputTokens), cost)
		most := j.settings.AskAboveTokens
		if most == 0 || e.InputTokens <= most || j.yes {
			j.progress.say("estimate %s; %s", about, rest)
			return nil
		}
		lines := []string{"estimate " + about, fmt.Sprintf("         That is more than ask_above_tokens, %s. A folder with fewer files takes fewer tokens.", count(most))}
		if !a.stdinTTY || !a.stderrTTY {
			text := what + " takes more than ask_above_tokens, and nobody can be asked: " + anyPrice + " goes on without asking\n" + strings.Join(lines, "\n")
			return &priceError{text, strings.Replace(j.again, " --yes", "", 1) + " " + anyPrice}
		}
		defer j.progress.wait(describingFiles)
		return a.agree(ctx, j.progress, false, lines, "", "         "+question+" [y/N] ", "")
	}
}

// skipped tells what of the data folder is skipped.
func (p *progress) skipped(t agent.Task) {
	if said := files.InWords(t.Skipped); said != "" {
		p.say("skipped  %s; --include NAME takes it", term.Fit(said, 400))
	}
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
	base := j.base()
	if link := linkIn(base, j.settings.Out); link != "" && !j.settings.OutGiven {
		return "", &usageError{fmt.Sprintf("%s, where runs go, is a link, which may be a stranger's", term.Printable(link)),
			[]string{"ls -ld " + quoteShell(link), "export DSSTAR_OUT=" + quoteShell(base) + "   # if the link is yours"}}
	}
	return agent.NewFolder(base, j.task.Question, time.Now())
}

// linkIn returns the last link in the part rel at the end of path; "" if there is none.
func linkIn(path, rel string) string {
	for range strings.Split(filepath.Clean(rel), string(filepath.Separator)) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return path
		}
		path = filepath.Dir(path)
	}
	return ""
}

// retrying tells of a model call that will be repeated.
func (p *progress) retrying(r llm.Retry) {
	p.sayIn(term.Doubt, "retry    %s for %s: %s; again in %.0f s", r.Role, r.Subject, r.Cause, r.Wait.Seconds())
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

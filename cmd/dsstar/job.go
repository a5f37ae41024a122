package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A job is one question to answer, for any of the commands.
type job struct {
	runFlags
	settings *configs.Settings
	task     record.Task
	sources  []files.Source // of the task's data, by where they are
	model    llm.Model
	memory   *memory.Memory   // of the data; nil: none
	approved []agent.Approved // definitions that bind
	agreed   bool             // the user has approved all that stands beside the data
	site     site.Site
	progress *ui.Progress
	shown    bool         // a demo, for which an answer that depends on a reading is a success
	stands   string       // the notebook of an answer from which the run goes on; "": none
	teaches  bool         // a finished run is only asked what it teaches
	learns   bool         // nothing but what a verified run teaches is wanted
	calls    int          // of the run before it went on
	fresh    bool         // the run makes its folder, which need not stay
	past     bool         // the run is resumed and already has the variables that it needs
	goOn     []usage.Flag // flags that a later resume needs, too

	perhapsTheirs bool // others may have written cells of the run that is resumed
}

// runFlags are the flags of the commands that answer a question.
type runFlags struct {
	out    string // the run folder; "" for a new one under settings.Out
	json   bool
	quiet  bool
	yes    bool       // attach to the user's kernel without asking
	review bool       // ask before every cell
	names  cli.Commas // names to keep in the user's kernel

	definitions []string // folders and files of definitions, approved for this run
	// choices, "" for the default
	answer, ask, progressForm string
}

// checkOut rejects a run folder that is not empty before anything is set up. The folder is checked
// again, and created, when the run begins.
func (r *runFlags) checkOut() error {
	entries, err := os.ReadDir(r.out)
	if r.out == "" || errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	return fmt.Errorf("--out %s: %w", r.out, cmp.Or(err, record.ErrInUse))
}

// ofNew are the flags of commands that begin a run.
func (r *runFlags) ofNew() []cli.Flag {
	return []cli.Flag{r.outFlag(), cli.Opt(cli.Choice(&r.ask, "never", "when-it-matters"), "ask", "Method",
		"whether to ask on a terminal which reading of the question is meant (default when-it-matters)")}
}

func (r *runFlags) outFlag() cli.Flag {
	return cli.Opt(&r.out, "out,o", "Output", "the run folder; must be new or empty")
}

// common are the flags that also apply to existing runs.
func (r *runFlags) common() []cli.Flag {
	return []cli.Flag{
		cli.Opt(&r.json, "json", "Output", "print one JSON object instead of the answer"),
		cli.Opt(cli.Choice(&r.answer, "bare", "text"), "answer", "Output",
			"the answer as a bare value or as text (default: text on a terminal)"),
		cli.Opt(cli.Choice(&r.progressForm, "text", "json"), "progress", "Output",
			"the progress on standard error as text or as an object per line (default text)"),
		cli.Opt(&r.quiet, "quiet,q", "Output", "no progress on standard error"),
		cli.Opt(&r.review, "review", "Method", "ask before every cell: accept, edit, reject or stop"),
		cli.Opt(&r.yes, "yes,y", "Output",
			"do not ask before using kernels without a sandbox (running, or a "+
				"server's) or describing many files"),
	}
}

// binding is the flag of commands whose requests show definitions.
func (r *runFlags) binding() cli.Flag {
	return cli.Opt(&r.definitions, "definitions", "Data",
		"a folder or file of definitions, which you approve for this run: PATH; may be repeated")
}

// asking are the flags of commands that take a question of the user's own.
func (r *runFlags) asking() []cli.Flag {
	return []cli.Flag{r.binding(),
		cli.Opt(&r.names, "keep", "Kernel", "variables to leave in a running kernel: NAMES, or all"),
	}
}

// withJob carries out a command that has a job with flags and settings, which it checks.
func (a *app) withJob(flags runFlags, s *configs.Settings, do func(j job) error) (none cli.Output, err error) {
	if err = cmp.Or(a.mayReview(flags), flags.checkOut(), checkBudget(s)); err != nil {
		return none, err
	}
	j := job{runFlags: flags, settings: s, progress: a.runProgress(flags), goOn: a.line.Only(lasting...)}
	defer j.progress.Stop()
	return none, do(j)
}

// findPlace chooses where sessions are opened.
func (j *job) findPlace(ctx context.Context, a *app) (err error) {
	j.progress.Wait("setting up Python")
	use := site.Use{Yes: j.yes, Keep: j.names}
	say := func(line string) { j.progress.Say("set-up   %s", line) }
	j.site, err = a.host.Site(ctx, j.settings, use, say)
	return err
}

// setUp chooses where sessions are opened. It may create the Python environment and ask the user
// for consent.
func (j *job) setUp(ctx context.Context, a *app) error {
	if j.settings.Kernel == "" { // else the run may be beside that kernel's notebook
		if err := j.checkWritable(); err != nil {
			return err
		}
	}
	if err := j.findPlace(ctx, a); err != nil {
		return err
	}
	if j.settings.Kernel != "" {
		if err := j.checkWritable(); err != nil {
			return err
		}
	}
	if j.task.Data == "" && !j.past && !j.shown && j.about().Running == nil {
		return usage.New("no data are given, and no running kernel whose variables to ask about",
			usage.Again("--data", "PATH"), usage.Shell("dsstar kernels   # those that are running"))
	}
	if err := a.consent(ctx, j); err != nil {
		return err
	}
	j.progress.Wait("waiting for the kernel")
	return j.site.Look(ctx, append(j.paths(), disk.Existing(cmp.Or(j.out, j.settings.Out)))...)
}

// paths returns where the job's data are that are files and folders.
func (j *job) paths() []string {
	of := func(s files.Source) string { return s.Path }
	return lists.Where(lists.Map(j.sources, of), func(path string) bool { return path != "" })
}

// about says what is to be known of the site; little, before it is found.
func (j *job) about() site.About {
	if j.site == nil {
		return site.About{}
	}
	return j.site.About()
}

// currentFolder returns the current folder without links in its path; "" if it is gone.
func currentFolder() string {
	path, _ := os.Getwd()
	return disk.RealPath(path)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkWritable rejects a place for the run that cannot be written to.
func (j *job) checkWritable() error {
	run := cmp.Or(j.out, j.settings.Out)
	err := disk.CheckWritable(run)
	switch {
	case err == nil:
		return nil
	case j.past && j.stands == "":
		return usage.New(err.Error(), usage.Shell("cp -r %s %s   # a copy that can be written to, and then:", run, elsewhere()),
			usage.Again().Args(filepath.Join(elsewhere(), filepath.Base(run))))
	}
	return usage.New(err.Error(), usage.Again("--out", filepath.Join(elsewhere(), "dsstar-run")),
		usage.Shell("export DSSTAR_OUT=%s   # all runs go there", filepath.Join(elsewhere(), "dsstar-runs")))
}

// elsewhere returns a folder of the user's that can be written to; DIR stands for one if there is no
// such home.
func elsewhere() string {
	if home, err := os.UserHomeDir(); err == nil && disk.CheckWritable(home) == nil {
		return home
	}
	return "DIR"
}

// checkCache rejects a cache folder that cannot be written to.
func (a *app) checkCache() error {
	if err := disk.CheckWritable(a.host.CacheDir); err != nil {
		return usage.New(err.Error(), cacheHint)
	}
	return nil
}

func (j job) folder() (record.Folder, error) {
	if j.out != "" {
		return record.CreateFolder(j.out)
	}
	out := j.settings.Out
	if err := checkLinks(j.settings, "out", out, out); err != nil {
		return "", err
	}
	return record.NewFolder(out, j.task.Question, time.Now())
}

// checkLinks rejects a symbolic link among the trailing elements rel of the path of a folder, unless the
// user has chosen the folder by the setting key: the link may have come with somebody else's data.
func checkLinks(s *configs.Settings, key, path, rel string) error {
	at := path
	for range strings.Split(filepath.Clean(rel), "/") {
		info, err := os.Lstat(at)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && !s.Chosen(key) {
			return usage.New(
				fmt.Sprintf("%s is a symbolic link that somebody else may have made", ui.Printable(at)),
				usage.Shell("ls -ld %s", at),
				usage.Shell("export DSSTAR_"+strings.ToUpper(key)+"=%s   # if the link is yours", path))
		}
		at = filepath.Dir(at)
	}
	return nil
}

// dataFrom returns the data folder as the notebook names it. It is relative to the run folder if
// both are inside the current folder, so that a project can be moved or shared as a whole.
func dataFrom(run, data string) string {
	here := currentFolder()
	rel, err := filepath.Rel(run, data)
	if err != nil || !disk.Inside(here, run) || !disk.Inside(here, data) {
		return data
	}
	return rel
}

// setTask makes the job's task of a question and lists its data; without sources it is about variables only.
// Data that the sandbox would refuse later, since cells would read all of the home folder, are not listed.
func (j *job) setTask(ctx context.Context, question, guidelines string) error {
	j.task = record.Task{Question: question, Guidelines: guidelines}
	if len(j.sources) == 0 {
		return nil
	}
	own := j.settings.Kernel+j.settings.Server == ""
	home := slices.IndexFunc(j.paths(), sandbox.AboveHome)
	if own && home >= 0 && !slices.Contains([]string{"external", "off"}, j.settings.Sandbox) {
		return fmt.Errorf("%w: all that is in your home folder, through %s", sandbox.ErrExposed, j.paths()[home])
	}
	if j.task.Data = record.DataFolder; j.sources[0].Name == "" {
		j.task.Data = j.sources[0].Path
	} else {
		j.task.Sources = slices.DeleteFunc(slices.Clone(j.sources),
			func(s files.Source) bool { return s.Of != "" })
	}
	return listData(ctx, &j.task, j.sources)
}

package bench

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// suiteFlags select the benchmark and its tasks.
type suiteFlags struct {
	bench, tasks, data, setting, split string
}

func (s *suiteFlags) all() []cli.Flag {
	names := lists.Map(bench.Benchmarks(), func(b *bench.Benchmark) string { return b.Name })
	s.setting = "retrieval"
	return append(s.moved(),
		cli.Opt(&s.bench, "bench", "", "the benchmark: "+strings.Join(names, ", ")),
		cli.Opt(cli.Choice(&s.setting, "retrieval", "oracle"), "data-setting", "",
			"retrieval: all files; oracle: those that the answer needs"),
		cli.Opt(cli.Choice(&s.split, "dev", "test", "all", "easy", "medium", "hard"), "split", "",
			"easy, medium and hard are the tasks of one level"))
}

// moved are those that say where the tasks of a run are.
func (s *suiteFlags) moved() []cli.Flag {
	return []cli.Flag{
		cli.Opt(&s.tasks, "tasks", "", "the benchmark's folder, or a file of tasks"),
		cli.Opt((*usage.Once)(&s.data), "data", "", "the data folder, if it is elsewhere"),
	}
}

// open reads the suite.
func (s suiteFlags) open() (*bench.Suite, error) {
	if s.bench == "" {
		return nil, usage.New("--bench is not given", usage.Again("--bench", "dabstep", "--tasks", "FOLDER"))
	}
	b, err := bench.Find(s.bench)
	if err != nil {
		return nil, usage.New(err.Error(), usage.Again("--bench", "dir", "--tasks", "PATH"))
	}
	if s.tasks == "" {
		return nil, usage.New("--tasks is not given: "+b.Layout, usage.Again("--tasks", "PATH"))
	}
	setting := bench.Setting{Oracle: s.setting == "oracle"}
	if s.data != "" {
		setting.Data = disk.Absolute(s.data)
	}
	if s.split == "dev" {
		setting.Split = "dev"
	}
	suite, err := b.Open(s.tasks, setting)
	if missing, ok := errors.AsType[*bench.MissingError](err); ok {
		return nil, usage.New(err.Error()+"\n--tasks is "+b.Layout,
			usage.Shell("ls %s", filepath.Dir(missing.What[0])))
	}
	if err != nil {
		return nil, usage.New(err.Error(), usage.Shell("head -c 300 %s", s.tasks))
	}
	return suite, nil
}

func compatFlag(compat *string) cli.Flag {
	*compat = string(bench.Upstream)
	return cli.Opt(cli.Choice(compat, string(bench.Upstream), string(bench.Fixed)), "compat", "",
		"score like the public code (upstream), or without its faults (fixed)")
}

// runFlags are the flags of bench run that are not settings.
type runFlags struct {
	suiteFlags
	agent, compat, out      string
	ids, retry              cli.Commas
	jobs, limit, totalCalls int
	seed                    uint64
	agentOptions            solver.Options
	totalTime               time.Duration
	totalCost               float64
	resume, quiet, yes      bool
}

func (b *runFlags) all() []cli.Flag {
	b.agent, b.jobs = "dsstar", 1
	o := &b.agentOptions
	agents := lists.Map(solver.All(), func(a solver.Agent) string { return a.Name })
	return append(b.suiteFlags.all(), []cli.Flag{
		cli.Opt(cli.Choice(&b.agent, agents...), "agent", "", "the agent"),
		cli.Opt(&b.ids, "ids", "", "only these tasks, separated by commas"),
		cli.Opt(&b.limit, "limit", "", "maximum number of tasks"),
		cli.Opt(&b.seed, "seed", "", "shuffles the tasks, before --limit (default: the benchmark's order)"),
		cli.Opt(&b.jobs, "jobs", "", "concurrent tasks"),
		cli.Opt(&b.out, "out,o", "Output", "the folder of the run; must be new or empty"),
		cli.Opt(&b.resume, "resume", "", "continue the run in --out"),
		cli.Opt(&b.retry, "retry", "",
			"with --resume: repeat tasks that failed for these causes, such as error,budget"),
		cli.Opt(&b.totalCost, "total-cost", "", "cost limit of all tasks together, in US dollars"),
		cli.Opt(&b.totalCalls, "total-calls", "", "limit on the model calls of all tasks together"),
		cli.Opt(&b.totalTime, "total-time", "", "time limit of the command"),
		cli.Opt(&o.Steps, "max-steps", "",
			"maximum number of turns, for agents without rounds (default: as published)"),
		cli.Opt(&o.Reasoning, "reasoning", "", "react: use the prompt for reasoning models"),
		cli.Opt(new(bool), "json", "Output", "print one JSON object instead of the score"),
		cli.Opt(&b.quiet, "quiet,q", "Output", "no progress on standard error"),
		cli.Opt(&b.yes, "yes,y", "Output",
			"do not ask before using kernels of a server, which have no sandbox"),
		compatFlag(&b.compat),
		cli.Opt(cli.Setting{Key: "temperature", To: new(float64)}, "temperature", "Model",
			"sampling temperature (default: the agent's published one, else the model's)"),
	}...)
}

// check refuses invalid flags.
func (b *runFlags) check(a *App, s *configs.Settings) error {
	for _, cause := range b.retry {
		if !slices.Contains(runner.Causes, cause) {
			return usage.New(fmt.Sprintf("--retry: %q is none of %s", cause, strings.Join(runner.Causes, ", ")),
				usage.Again("--retry", runner.Causes[0]))
		}
	}
	switch {
	case b.out == "":
		return usage.New("--out is not given", usage.Again("--out", filepath.Join("bench-runs", b.agent)))
	case b.jobs < 1:
		return usage.New(fmt.Sprintf("--jobs must be at least 1, not %d", b.jobs), usage.Again("--jobs", "1"))
	case b.agentOptions.Steps < 0:
		return usage.New("--max-steps must be at least 0", usage.Without("max-steps").Note("as published"))
	}
	priced := *s
	priced.MaxCost = max(s.MaxCost, b.totalCost)
	return a.Check(&priced)
}

// choose returns the tasks that the flags select, in run order.
func (b *runFlags) choose(suite *bench.Suite) ([]bench.Task, error) {
	level := b.split
	if slices.Contains([]string{"dev", "test", "all"}, level) {
		level = ""
	}
	tasks, err := suite.Choose(level, b.ids, b.seed, b.limit)
	if errors.Is(err, bench.ErrNoTasks) {
		return nil, usage.New(err.Error()+" by --split and --ids",
			usage.Without("split", "ids").Note("all tasks"))
	}
	if err != nil {
		return nil, usage.New("--ids: "+err.Error(), usage.Without("ids").Note("all tasks"))
	}
	return tasks, nil
}

// measured holds the prefixes of the settings that results depend on.
var measured = []string{
	"models.", "method.", "context", "temperature", "max_output_tokens",
	"max_cost", "max_calls", "max_time", "max_rounds", "debug_tries", "top_k", "max_files",
	"result_chars", "description_chars", "cell_timeout", "rollback", "allow_net",
}

// about returns the description of the run.
func (b *runFlags) about(f *pflag.FlagSet, s *configs.Settings, tasks []bench.Task) runner.About {
	about := runner.About{Bench: b.bench, Agent: b.agent, Model: s.Model,
		Setup: map[string]string{"compat": b.compat}}
	for _, e := range s.Explain() {
		if e.Source != "default" && slices.ContainsFunc(measured,
			func(begin string) bool { return strings.HasPrefix(e.Key, begin) }) {
			about.Setup[e.Key] = e.Text()
		}
	}
	for _, name := range []string{"data-setting", "seed", "max-steps", "reasoning", "tasks", "data",
		"split"} {
		value := f.Lookup(name).Value.String()
		switch {
		case value == f.Lookup(name).DefValue, name == "split" && (value == "all" || value == "test"):
			continue
		case name == "tasks" || name == "data":
			value = disk.Absolute(value)
		}
		about.Setup[strings.ReplaceAll(name, "-", "_")] = value
	}
	for _, t := range tasks {
		about.Items = append(about.Items, runner.Item{ID: t.ID, Level: t.Level, Domain: t.Domain})
	}
	return about
}

// folder creates the folder of a run, or reopens it if the run is the same.
func (b *runFlags) folder(about runner.About) (*runner.Folder, error) {
	other := usage.Again("--out", b.out+"-2").But("resume").Note("another run")
	if !b.resume {
		f, err := runner.Create(b.out, about)
		if errors.Is(err, runner.ErrExists) {
			return nil, usage.New(err.Error(), usage.Again("--resume"), other)
		}
		return f, err
	}
	past, err := readRun(b.out)
	if err != nil {
		return nil, err
	}
	if setting := past.Differs(about); setting != "" {
		return nil, usage.New(fmt.Sprintf("%s was run with %s, and a run cannot change this setting",
			b.out, setting), other)
	}
	f, err := runner.Open(b.out)
	if err == nil {
		f.Forget(func(r runner.Record) bool { return slices.Contains(b.retry, r.Cause) })
	}
	return f, err
}

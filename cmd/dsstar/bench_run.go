package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/configs"
)

const benchRunHelp = `Run an agent over the tasks of a benchmark and score its answers. The flags of
dsstar nb say how each task is run; --max-cost, --max-calls and --max-time limit
each task, --total-cost, --total-calls and --total-time all of them together.

OUT gets a line for each task in results.jsonl, and the run folder of each in
tasks/. Whatever stops a run, it goes on with --resume --out OUT: what has its
result is not run again. With other settings it is refused.

With several --server, tasks are spread over the kernels of these Jupyter servers;
those of a server that is lost are given to the others. The description cache is
not used: each task has its own calls, so that its cost is its own.`

// A benchFlags are the flags of bench run that are no settings.
type benchFlags struct {
	suiteFlags
	agent, domain, ids, compat, out, retry string

	servers               []string
	jobs, limit, repeat   int
	seed                  uint64
	steps, memory         int
	interpreter           solver.Interpreter
	reasoning             bool
	timeout, totalTime    time.Duration
	totalCost             float64
	totalCalls            int
	resume, quiet, asJSON bool

	replayed string // the folder of the run that is replayed, or ""
	yes      bool
	again    string // the command line with --yes
}

func (b *benchFlags) add(f *pflag.FlagSet) {
	b.suiteFlags.add(f)
	f.StringVar(&b.agent, "agent", "dsstar", "the agent: "+strings.Join(agentNames(), ", "))
	f.StringVar(&b.domain, "domain", "", "only the tasks of these domains, with commas between them")
	f.StringVar(&b.ids, "ids", "", "only these tasks: IDS with commas between them, or @FILE with one a line")
	f.IntVar(&b.limit, "limit", 0, "so many tasks at most")
	f.Uint64Var(&b.seed, "seed", 0, "shuffles the tasks, before --limit (default: as the benchmark has them)")
	f.IntVar(&b.repeat, "repeat", 1, "how often each task is run")
	f.IntVar(&b.jobs, "jobs", 1, "tasks that are run at the same time; at least one on each --server")
	f.StringArrayVar(&b.servers, "server", nil, "the URL of a Jupyter server whose kernels are used; may be repeated")
	f.StringVarP(&b.out, "out", "o", "", "the folder of the run; must be new or empty")
	f.BoolVar(&b.resume, "resume", false, "go on with the run in --out")
	f.StringVar(&b.retry, "retry", "", "with --resume: causes of failure whose tasks are run again, as model-error,time-out")
	f.DurationVar(&b.timeout, "timeout-task", 0, "time that a task may take before it counts as failed")
	f.Float64Var(&b.totalCost, "total-cost", 0, "US dollars that all tasks may cost together")
	f.IntVar(&b.totalCalls, "total-calls", 0, "model calls that all tasks may make together")
	f.DurationVar(&b.totalTime, "total-time", 0, "time that the command may take")
	f.IntVar(&b.steps, "max-steps", 0, "turns of the agents that have no rounds (default: as published)")
	f.IntVar(&b.memory, "max-history", 0, "turns that da-agent remembers (default 15)")
	f.BoolVar(&b.reasoning, "reasoning", false, "react: the prompt for models that reason on their own")
	f.IntVar(&b.interpreter.Trials, "trials", 0, "data-interpreter: N of its verification (default 1)")
	f.BoolVar(&b.interpreter.NoVerify, "no-verify", false, "data-interpreter: without verification")
	f.BoolVar(&b.interpreter.NoPlan, "no-replan", false, "data-interpreter: a failed task is tried no other way")
	f.BoolVar(&b.interpreter.NoTools, "no-tools", false, "data-interpreter: without tools")
	f.StringVar(&b.interpreter.Pool, "pool", "", "data-interpreter: the file with experiences of other questions")
	f.BoolVar(&b.asJSON, "json", false, "print one JSON object instead of the score")
	f.BoolVarP(&b.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVarP(&b.yes, "yes", "y", false, "use kernels of servers, which are not sandboxed, without asking")
	compatFlag(f, &b.compat)
}

func agentNames() []string {
	var names []string
	for _, n := range solver.All() {
		names = append(names, n.Name)
	}
	return names
}

func (a *app) benchRunCommand() *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:     "run --bench NAME --tasks PATH [flags] --out OUT",
		Short:   "Run an agent over the tasks of a benchmark",
		Long:    benchRunHelp,
		Example: "  dsstar bench run --bench dir --tasks ./trials --agent react --model openai/MODEL --jobs 2 --out first\n  dsstar bench run --resume --out first",
		Args:    noArgs,
	}
	flags.add(cmd.Flags())
	settings := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	modelFlags(settings)
	settings.Float64("temperature", 0, "the sampling temperature (default: the agent's published one, else the model's own)")
	kernelFlags(settings)
	sandboxFlags(settings)
	cmd.Flags().AddFlagSet(settings)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags.again = sameCommand(cmd, args, "--yes") // before it is filled up from the run that goes on
		past, err := flags.past(cmd.Flags())
		if err != nil {
			return err
		}
		if err := noSecret(cmd.Flags().Lookup("base-url").Value.String()); err != nil {
			return err
		}
		s, err := a.settings(settings)
		if err != nil {
			return err
		}
		r, err := a.newBenchRun(cmd, &flags, s, past)
		if err != nil {
			return err
		}
		defer r.close()
		return r.run(cmd.Context())
	}
	return cmd
}

// notOfRun are the flags that a run does not depend on: they may be other ones
// when it goes on.
var notOfRun = []string{"out", "resume", "retry", "jobs", "server", "json", "quiet", "yes", "total-cost", "total-calls", "total-time", "help",
	"python", "kernel", "sandbox", "max-memory", "max-processes", "max-file", "max-folder"}

// past gives the flags that are not given the values that they had in the run that
// goes on, or in the one that is replayed. It is nil for a new run.
func (b *benchFlags) past(f *pflag.FlagSet) (*runner.About, error) {
	replay, isReplay := strings.CutPrefix(f.Lookup("model").Value.String(), replayPrefix)
	from := b.out
	switch {
	case b.out == "":
		return nil, &usageError{"--out is not given", []string{"dsstar bench run … --out " + defaultOut(b.agent)}}
	case b.retry != "" && !b.resume:
		return nil, &usageError{"--retry goes with --resume", []string{"dsstar bench run --resume --retry " + b.retry + " --out " + quoteShell(b.out)}}
	case b.resume:
	case isReplay:
		from = replay
	default:
		return nil, nil
	}
	r, err := readBench(from)
	if err != nil {
		return nil, err
	}
	if b.resume && isReplay && r.Replayed == "" {
		return nil, &usageError{"a run that was made with a model cannot go on with a replay", []string{"dsstar bench run --resume --out " + quoteShell(b.out)}}
	}
	own := map[string]bool{}
	f.Visit(func(flag *pflag.Flag) { own[flag.Name] = true })
	for _, arg := range r.Args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if f.Lookup(name) == nil || own[name] {
			continue
		}
		if err := f.Set(name, value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", from, arg, err)
		}
	}
	return &r.About, nil
}

// noSecret refuses an address with a key in it: bench.json holds the command line,
// and runs are handed on.
func noSecret(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return nil // settings say what is wrong with it
	}
	secret := u.User != nil
	for name := range u.Query() {
		secret = secret || !strings.HasSuffix(strings.ToLower(name), "version") // such as api-version
	}
	if !secret {
		return nil
	}
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return &usageError{"--base-url: the address holds a key or a password, and a run keeps its command line in bench.json",
		[]string{"dsstar bench run --base-url " + quoteShell(clean.String()) + " --api-key-env NAME …   # the variable NAME has the key"}}
}

func defaultOut(agent string) string { return filepath.Join("bench-runs", agent) }

// args are the flags of a run, as past reads them; paths are absolute.
func (b *benchFlags) args(f *pflag.FlagSet) []string {
	var all []string
	f.Visit(func(flag *pflag.Flag) {
		if slices.Contains(notOfRun, flag.Name) {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch path, isFile := strings.CutPrefix(value, "@"); {
			case flag.Name == "tasks" || flag.Name == "data" || flag.Name == "pool":
				value = absolute(value)
			case flag.Name == "model" && strings.HasPrefix(value, replayPrefix):
				value = replayPrefix + absolute(strings.TrimPrefix(value, replayPrefix))
			case flag.Name == "ids" && isFile:
				value = "@" + absolute(path)
			}
			all = append(all, "--"+flag.Name+"="+value)
		}
	})
	return all
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// choose are the tasks that the flags leave, in the order in which they are run.
func (b *benchFlags) choose(suite *bench.Suite) ([]bench.Task, error) {
	tasks := slices.Clone(suite.Tasks)
	if levels[b.split] {
		tasks = slices.DeleteFunc(tasks, func(t bench.Task) bool { return !strings.EqualFold(t.Level, b.split) })
	}
	if b.domain != "" {
		names := strings.Split(b.domain, ",")
		tasks = slices.DeleteFunc(tasks, func(t bench.Task) bool {
			return !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), t.Domain) })
		})
	}
	if b.ids != "" {
		ids, err := readIDs(b.ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if !slices.ContainsFunc(suite.Tasks, func(t bench.Task) bool { return t.ID == id }) {
				return nil, &usageError{fmt.Sprintf("--ids: there is no task %q", id), []string{"dsstar bench run … --ids " + quoteShell(someIDs(suite.Tasks))}}
			}
		}
		tasks = slices.DeleteFunc(tasks, func(t bench.Task) bool { return !slices.Contains(ids, t.ID) })
	}
	if b.seed != 0 {
		rand.New(rand.NewPCG(b.seed, 0)).Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	}
	if b.limit > 0 && len(tasks) > b.limit {
		tasks = tasks[:b.limit]
	}
	if len(tasks) == 0 {
		return nil, &usageError{"no task is left by --split, --domain and --ids", []string{"dsstar bench run … --ids " + quoteShell(someIDs(suite.Tasks)), domainHint(suite.Tasks)}}
	}
	return tasks, nil
}

func readIDs(arg string) ([]string, error) {
	path, isFile := strings.CutPrefix(arg, "@")
	if isFile {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, &usageError{fmt.Sprintf("--ids: %v", err), []string{"ls -l " + quoteShell(path)}}
		}
		arg = string(data)
	}
	return strings.FieldsFunc(arg, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' || r == '\t' }), nil
}

func someIDs(tasks []bench.Task) string {
	var ids []string
	for _, t := range tasks[:min(3, len(tasks))] {
		ids = append(ids, t.ID)
	}
	return strings.Join(ids, ",")
}

func domainHint(tasks []bench.Task) string {
	domains := map[string]bool{}
	for _, t := range tasks {
		domains[t.Domain] = true
	}
	return "dsstar bench run … --domain " + quoteShell(strings.Join(slices.Sorted(maps.Keys(domains)), ","))
}

// measured are the settings that results depend on, by the beginnings of their keys.
var measured = []string{"models.", "method.", "embedding_model", "context", "temperature", "max_output_tokens", "max_cost", "max_calls", "max_time",
	"max_rounds", "debug_tries", "top_k", "max_files", "result_chars", "description_chars", "cell_timeout", "rollback", "allow_net"}

// about is what a run is.
func (b *benchFlags) about(f *pflag.FlagSet, s *configs.Settings, tasks []bench.Task, past *runner.About) (runner.About, error) {
	about := runner.About{Bench: b.bench, Agent: b.agent, Model: s.Model, Repeat: b.repeat, Setup: map[string]string{}, Args: b.args(f)}
	if path, ok := strings.CutPrefix(s.Model, replayPrefix); ok {
		about.Model, about.Replayed = past.Model, absolute(path)
		b.replayed = about.Replayed
	}
	defaults, err := configs.Load(configs.Sources{})
	if err != nil {
		return about, err
	}
	usual := map[string]string{}
	for _, e := range defaults.Explain() {
		usual[e.Key] = e.Text()
	}
	for _, e := range s.Explain() {
		if slices.ContainsFunc(measured, func(begin string) bool { return strings.HasPrefix(e.Key, begin) }) && e.Text() != usual[e.Key] {
			about.Setup[e.Key] = e.Text()
		}
	}
	for name, value := range map[string]string{
		"tasks": absolute(b.tasks), "data": dataPath(b.data), "data_setting": unless(b.setting, "retrieval"), "compat": b.compat,
		"seed": unless(fmt.Sprint(b.seed), "0"), "timeout_task": unless(b.timeout.String(), "0s"),
		"max_steps": unless(fmt.Sprint(b.steps), "0"), "max_history": unless(fmt.Sprint(b.memory), "0"),
		"reasoning": unless(fmt.Sprint(b.reasoning), "false"), "trials": unless(fmt.Sprint(b.interpreter.Trials), "0"),
		"verify": unless(fmt.Sprint(!b.interpreter.NoVerify), "true"), "replan": unless(fmt.Sprint(!b.interpreter.NoPlan), "true"),
		"tools": unless(fmt.Sprint(!b.interpreter.NoTools), "true"), "pool": dataPath(b.interpreter.Pool),
	} {
		if value != "" {
			about.Setup[name] = value
		}
	}
	for _, t := range tasks {
		about.Items = append(about.Items, runner.Item{ID: t.ID, Level: t.Level, Domain: t.Domain, Hidden: t.Gold == nil})
	}
	return about, nil
}

func dataPath(given string) string {
	if given == "" {
		return ""
	}
	return absolute(given)
}

func unless(value, usual string) string {
	if value == usual {
		return ""
	}
	return value
}

// open makes the folder, or goes on with it if it is about the same.
func (b *benchFlags) folder(about runner.About, past *runner.About) (*runner.Folder, error) {
	if !b.resume {
		pool, err := b.poolNow()
		if err != nil {
			return nil, err
		}
		f, err := runner.Create(b.out, about)
		if errors.Is(err, runner.ErrExists) {
			return nil, &usageError{err.Error(), []string{"dsstar bench run --resume --out " + quoteShell(b.out), "dsstar bench run … --out " + quoteShell(b.out+"-2")}}
		}
		if err != nil {
			return nil, err
		}
		if err := b.keepPool(pool); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
	for _, d := range past.Differs(about) {
		if d.Name == "digest" {
			continue
		}
		return nil, &usageError{fmt.Sprintf("%s was run with %s %s, and now it is %s: a run is of one kind", b.out, d.Name, cmp.Or(d.Was, "as usual"), cmp.Or(d.Is, "as usual")),
			[]string{"dsstar bench run --resume --out " + quoteShell(b.out) + "   # as it was", "dsstar bench run … --out " + quoteShell(b.out+"-2") + "   # another run"}}
	}
	f, err := runner.Open(b.out)
	if err != nil || b.retry == "" {
		return f, err
	}
	again, err := causes(b.retry)
	if err == nil {
		err = f.Forget(func(r runner.Record) bool { return slices.Contains(again, r.Cause) })
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// causes reads a list of causes of failure, written with hyphens.
func causes(list string) ([]runner.Cause, error) {
	var all []runner.Cause
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(runner.Causes(), func(c runner.Cause) bool {
			return strings.ReplaceAll(string(c), " ", "-") == strings.ReplaceAll(strings.TrimSpace(name), " ", "-")
		})
		if i < 0 {
			e := &usageError{text: fmt.Sprintf("--retry: there is no cause %q", name)}
			for _, c := range runner.Causes() {
				e.hints = append(e.hints, "dsstar bench run --resume --out OUT --retry "+strings.ReplaceAll(string(c), " ", "-"))
			}
			return nil, e
		}
		all = append(all, runner.Causes()[i])
	}
	return all, nil
}

// checkBench refuses what no benchmark can be run with.
func (b *benchFlags) check(s *configs.Settings) error {
	if !slices.Contains(agentNames(), b.agent) {
		e := &usageError{text: fmt.Sprintf("--agent: there is no agent %q", b.agent)}
		for _, n := range solver.All() {
			e.hints = append(e.hints, "dsstar bench run --agent "+n.Name+" …   # "+n.Summary)
		}
		return e
	}
	switch {
	case b.jobs < 1:
		return &usageError{fmt.Sprintf("--jobs must be at least 1, not %d", b.jobs), []string{"dsstar bench run --jobs 1 …"}}
	case b.repeat < 1:
		return &usageError{fmt.Sprintf("--repeat must be at least 1, not %d", b.repeat), []string{"dsstar bench run --repeat 1 …"}}
	case b.totalCost > 0 && !strings.HasPrefix(s.Model, replayPrefix):
		priced := *s
		priced.MaxCost = b.totalCost
		if err := checkBudget(&priced); err != nil {
			return err
		}
	}
	if _, err := checkCompat(b.compat); err != nil {
		return err
	}
	if err := checkBudget(s); err != nil {
		return err
	}
	return checkMethod(s, false)
}

// options are what changes the agents that have no settings.
func (b *benchFlags) options() solver.Options {
	i := b.interpreter
	i.Pool = b.pool()
	return solver.Options{Steps: b.steps, Memory: b.memory, Reasoning: b.reasoning, Interpreter: i}
}

// A benchStopped is a run of a benchmark that ended before its end.
type benchStopped struct {
	err error
	out string
}

func (e *benchStopped) Error() string { return e.err.Error() }
func (e *benchStopped) Unwrap() error { return e.err }

// hints are the hints for a run of a benchmark that was stopped.
func (e *benchStopped) hints(cause []string) []string {
	again := "dsstar bench run --resume --out " + quoteShell(e.out)
	if spent, ok := errors.AsType[*agent.BudgetError](e.err); ok {
		return []string{again + " --" + spent.Flag + " MORE   # or without it: no limit"}
	}
	if _, ok := errors.AsType[*runner.SickError](e.err); ok {
		return []string{again + " --retry model-error,kernel-error   # when it is mended"}
	}
	return append([]string{again + "   # goes on, and runs nothing twice"}, cause...)
}

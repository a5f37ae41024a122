package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

const runHelp = `Run an agent over the tasks of a benchmark and score its answers. The flags of
dsstar nb configure each task; --max-cost, --max-calls and --max-time limit each
task, --total-cost, --total-calls and --total-time all tasks together.

OUT gets a line for each task in results.jsonl, and its run folder in tasks/.
Whatever stopped a run, --resume --out OUT continues it: tasks with a result do not
run again. Other settings are refused. Tasks learn nothing from each other.`

// runFlags are the flags of bench run that are not settings.
type runFlags struct {
	suiteFlags
	agent, ids, compat, out string
	retry                   cli.Commas

	jobs, limit           int
	seed                  uint64
	agentOptions          solver.Options
	totalTime             time.Duration
	totalCost             float64
	totalCalls            int
	resume, quiet, asJSON bool

	yes bool
}

func (b *runFlags) all() []cli.Flag {
	b.agent, b.jobs = "dsstar", 1
	o := &b.agentOptions
	return append(b.suiteFlags.all(), []cli.Flag{
		cli.Opt(cli.Choice(&b.agent, agentNames()...), "agent", "", "the agent"),
		cli.Opt(&b.ids, "ids", "", "only these tasks: IDS separated by commas, or @FILE with one per line"),
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
		cli.Opt(&b.asJSON, "json", "Output", "print one JSON object instead of the score"),
		cli.Opt(&b.quiet, "quiet,q", "Output", "no progress on standard error"),
		cli.Opt(&b.yes, "yes,y", "Output", "do not ask before using kernels of a server, which have no sandbox"),
		compatFlag(&b.compat),
		cli.Opt(cli.Setting{Key: "temperature", To: new(float64)}, "temperature", "Model",
			"sampling temperature (default: the agent's published one, else the model's)"),
	}...)
}

func agentNames() []string {
	var names []string
	for _, n := range solver.All() {
		names = append(names, n.Name)
	}
	return names
}

func (a *App) runCommand() cli.Command {
	var flags runFlags
	var past *runner.About
	return cli.Command{
		Use:   "run --bench NAME --tasks PATH [flags] --out OUT",
		Short: "Run an agent over the tasks of a benchmark",
		Long:  runHelp,
		Example: "  dsstar bench run --bench dir --tasks ./trials --agent react --model openai/MODEL " +
			"--jobs 2 --out first\n  dsstar bench run --resume --out first",
		Flags: flags.all(), Settings: taken,
		Needs: [][]string{{"retry", "resume"}},
		Before: func(f *pflag.FlagSet) (err error) {
			past, err = flags.past(f)
			return cmp.Or(err, noSecret(f.Lookup("base-url").Value.String()))
		},
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			r := &run{App: a, flags: &flags, settings: c.Settings, progress: a.NewProgress(flags.quiet)}
			defer r.close()
			if err := r.prepare(ctx, c.Flags, past); err != nil {
				return cli.Output{}, err
			}
			return r.run(ctx)
		},
	}
}

func defaultOut(agent string) string { return filepath.Join("bench-runs", agent) }

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// choose returns the tasks that the flags select, in run order.
func (b *runFlags) choose(a *App, suite *bench.Suite) ([]bench.Task, error) {
	filter := bench.Filter{Level: b.level(), Seed: b.seed, Limit: b.limit}
	if b.ids != "" {
		var err error
		if filter.IDs, err = a.readIDs(b.ids); err != nil {
			return nil, err
		}
	}
	tasks, err := suite.Choose(filter)
	if errors.Is(err, bench.ErrNoTasks) {
		return nil, usage.New(err.Error()+" by --split and --ids",
			usage.Without("split", "ids").Note("all tasks"))
	}
	if err != nil {
		return nil, usage.New("--ids: "+err.Error(), usage.Without("ids").Note("all tasks"))
	}
	return tasks, nil
}

func (a *App) readIDs(arg string) ([]string, error) {
	path, isFile := strings.CutPrefix(arg, "@")
	if isFile {
		data, err := a.ReadFile(path, 16<<20)
		if err != nil {
			return nil, usage.New(fmt.Sprintf("--ids: %v", err), usage.Shell("ls -l %s", path))
		}
		arg = string(data)
	}
	return strings.FieldsFunc(arg,
		func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' || r == '\t' }), nil
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
	case b.jobs < 1:
		return usage.New(fmt.Sprintf("--jobs must be at least 1, not %d", b.jobs),
			usage.Again("--jobs", "1"))
	case b.agentOptions.Steps < 0:
		return usage.New("--max-steps must be at least 0", usage.Without("max-steps").Note("as published"))
	case b.totalCost > 0 && !strings.HasPrefix(s.Model, configs.ReplayPrefix):
		priced := *s
		priced.MaxCost = b.totalCost
		if err := a.CheckBudget(&priced); err != nil {
			return err
		}
	}
	return cmp.Or(a.CheckBudget(s), a.CheckMethod(s))
}

// A StoppedError is the error of a run that stopped early.
type StoppedError struct {
	Err error
	Out string // the folder of the run
}

func (e *StoppedError) Error() string { return e.Err.Error() }
func (e *StoppedError) Unwrap() error { return e.Err }

// Line is the command line that continues the run.
func (e *StoppedError) Line() usage.Line {
	return usage.Line{Command: "dsstar bench run", Flags: []usage.Flag{
		{Name: "resume", Value: "true", Switch: true}, {Name: "out", Value: e.Out},
	}}
}

// Hints returns how to continue the run.
func (e *StoppedError) Hints(cause []usage.Hint) []usage.Hint {
	if spent, ok := errors.AsType[*ask.BudgetError](e.Err); ok {
		return []usage.Hint{usage.Again("--"+spent.Flag, "MORE").Note("or leave it out, for no limit")}
	}
	if _, ok := errors.AsType[*runner.SickError](e.Err); ok {
		return []usage.Hint{usage.Again("--retry", runner.Broken).Note("when it is mended")}
	}
	return append([]usage.Hint{usage.Again().Note("continues, and runs nothing twice")}, cause...)
}

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
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
	retry                   []string

	jobs, limit           int
	seed                  uint64
	agentOptions          solver.Options
	totalTime             time.Duration
	totalCost             float64
	totalCalls            int
	resume, quiet, asJSON bool

	yes bool
}

func (b *runFlags) add(f *pflag.FlagSet) {
	b.suiteFlags.add(f)
	f.StringVar(&b.agent, "agent", "dsstar", "the agent: "+strings.Join(agentNames(), ", "))
	f.StringVar(&b.ids, "ids", "",
		"only these tasks: IDS separated by commas, or @FILE with one per line")
	f.IntVar(&b.limit, "limit", 0, "maximum number of tasks")
	f.Uint64Var(&b.seed, "seed", 0,
		"shuffles the tasks, before --limit (default: the benchmark's order)")
	f.IntVar(&b.jobs, "jobs", 1, "concurrent tasks")
	f.StringVarP(&b.out, "out", "o", "", "the folder of the run; must be new or empty")
	f.BoolVar(&b.resume, "resume", false, "continue the run in --out")
	f.StringSliceVar(&b.retry, "retry", nil,
		"with --resume: repeat tasks that failed for these causes, such as error,budget")
	f.Float64Var(&b.totalCost, "total-cost", 0, "cost limit of all tasks together, in US dollars")
	f.IntVar(&b.totalCalls, "total-calls", 0, "limit on the model calls of all tasks together")
	f.DurationVar(&b.totalTime, "total-time", 0, "time limit of the command")
	o := &b.agentOptions
	f.IntVar(&o.Steps, "max-steps", 0,
		"maximum number of turns, for agents without rounds (default: as published)")
	f.BoolVar(&o.Reasoning, "reasoning", false, "react: use the prompt for reasoning models")
	f.BoolVar(&b.asJSON, "json", false, "print one JSON object instead of the score")
	f.BoolVarP(&b.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVarP(&b.yes, "yes", "y", false,
		"do not ask before using kernels of a server, which have no sandbox")
	compatFlag(f, &b.compat)
}

func agentNames() []string {
	var names []string
	for _, n := range solver.All() {
		names = append(names, n.Name)
	}
	return names
}

func (a *App) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run --bench NAME --tasks PATH [flags] --out OUT",
		Short: "Run an agent over the tasks of a benchmark",
		Long:  runHelp,
		Example: "  dsstar bench run --bench dir --tasks ./trials --agent react --model openai/MODEL " +
			"--jobs 2 --out first\n  dsstar bench run --resume --out first",
		Args: a.NoArgs,
	}
	flags.add(cmd.Flags())
	settings := a.settingsFlags(cmd)
	settings.Float64("temperature", 0,
		"sampling temperature (default: the agent's published one, else the model's)")
	cmd.Flags().AddFlag(settings.Lookup("temperature"))
	_ = cmd.Flags().MarkHidden("learn") // which is about one question after another
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		past, err := flags.past(cmd.Flags())
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("learn") {
			return usage.New("--learn: the tasks of a benchmark learn nothing", usage.Without("learn"))
		}
		if err := noSecret(cmd.Flags().Lookup("base-url").Value.String()); err != nil {
			return err
		}
		s, err := a.Settings(settings)
		if err != nil {
			return err
		}
		r := &run{App: a, flags: &flags, settings: s, progress: a.NewProgress(flags.quiet)}
		defer r.close()
		if err := r.prepare(cmd, past); err != nil {
			return err
		}
		return r.run(cmd.Context())
	}
	return cmd
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
	err := cmp.Or(oneOf("--agent", b.agent, agentNames()...), checkCompat(b.compat))
	for _, cause := range b.retry {
		err = cmp.Or(err, oneOf("--retry", cause, runner.Causes...))
	}
	switch {
	case err != nil:
		return err
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

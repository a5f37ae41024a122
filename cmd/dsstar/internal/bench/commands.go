// Package bench has the commands of dsstar bench.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/tables"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

// An App is what the commands need of the program.
type App struct {
	Host        site.Host
	Stderr      io.Writer
	File        io.Writer                     // standard output, unfiltered unless it is a terminal
	ExitHelp    string                        // what the exit codes mean
	Check       func(*configs.Settings) error // of budget and method
	AgentConfig func(*configs.Settings) agent.Config
	Key         func() record.Key
	Model       func(*configs.Settings, func(llm.Request, string)) (llm.Model, error)
	ModelLine   func(*configs.Settings) string
	Prices      func(*configs.Settings) func(role string) (llm.Price, bool)
	NewProgress func(quiet bool) *ui.Progress
	// Agree asks the user to agree, and does not ask if yes is set.
	Agree func(ctx context.Context, p *ui.Progress, yes bool, to site.Consent) error
}

const help = `Run agents over benchmarks, score their answers by the public rules, and print the
papers' tables with the results below the published figures. docs/benchmarks.md
says where to get the benchmarks.

`

// Command returns dsstar bench.
func (a *App) Command() cli.Command {
	return cli.Command{
		Use:   "bench",
		Short: "Run agents over benchmarks, score them, print the papers' tables",
		Long:  help + a.ExitHelp + "\nA stopped run continues with: dsstar bench run --resume --out OUT",
		Below: []cli.Command{a.runCommand(), a.scoreCommand(), a.submitCommand(), tableCommand()},
	}
}

// taken are the settings that have flags here.
const taken = "all -learn -jobs -include -mask -max-download -server"

// readRun reads the folder of a run.
func readRun(path string) (runner.Result, error) {
	r, err := runner.Read(path)
	if errors.Is(err, runner.ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return r, usage.New(fmt.Sprintf("there is no benchmark run in %s", path),
			usage.Shell("dsstar bench run --bench dir --tasks FOLDER --out %s   # starts one there", path))
	}
	return r, err
}

func readRuns(paths []string) (all []runner.Result, _ error) {
	for _, path := range paths {
		r, err := readRun(path)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func tableCommand() cli.Command {
	var names []string
	for _, t := range tables.Papers() {
		names = append(names, t.Name)
	}
	list := strings.Join(names, ", ")
	var papers cli.Commas
	return cli.Command{
		Use:   "table --paper NAME [OUT…]",
		Short: "Print a paper's table, with ours below the published figures",
		Long: `Print a table of a paper: the published figures, and below them a row for each run,
with the number of tasks and the 95 % interval.

Tables: ` + list,
		Example: "  dsstar bench table --paper ds-star:1 first second\n  dsstar bench table --paper " +
			"ds-star:4 --paper ds-star:fig4 first",
		Flags: []cli.Flag{cli.Opt(&papers, "paper", "", "the table, such as ds-star:1; may be repeated")},
		Args:  cli.Any,
		Run: func(_ context.Context, c *cli.Call) (none cli.Output, _ error) {
			runs, err := readRuns(c.Args)
			if err != nil {
				return none, err
			}
			var made []string
			for _, t := range papers {
				i := slices.Index(names, t)
				if i < 0 {
					return none, usage.New(fmt.Sprintf("--paper: unknown table %q; the tables are %s", t, list),
						usage.Again("--paper", names[0]))
				}
				made = append(made, tables.Papers()[i].Markdown(runs))
			}
			if len(made) == 0 {
				return none, usage.New("--paper is missing; the tables are "+list, usage.Again("--paper", names[0]))
			}
			return cli.Text(strings.Join(made, "\n")), nil
		},
	}
}

func (a *App) submitCommand() cli.Command {
	var tasks string
	return cli.Command{
		Use:     "submit OUT",
		Short:   "Print the answers of a run for a leaderboard",
		Long:    "Print the answers of a run for DABStep's leaderboard. Every task must have one.",
		Example: "  dsstar bench submit first > submission.jsonl",
		Flags:   []cli.Flag{cli.Opt(&tasks, "tasks", "", "the benchmark, if it was moved")},
		Args:    cli.Exactly(1, "one run", usage.Shell("dsstar bench submit OUT")),
		Run: func(_ context.Context, c *cli.Call) (none cli.Output, err error) {
			page, err := submission(c.Args[0], tasks)
			if err == nil {
				_, err = a.File.Write(page)
			}
			return none, err
		},
	}
}

// submission returns the submission of a run, which must cover the benchmark.
func submission(out, tasks string) ([]byte, error) {
	r, err := readRun(out)
	if err != nil {
		return nil, err
	}
	f := suiteFlags{tasks: tasks}.of(r)
	f.split = ""
	suite, err := f.open()
	if err != nil {
		return nil, err
	}
	if n, size := len(r.Items), len(suite.Tasks); n < size {
		return nil, usage.New(fmt.Sprintf("%s: %d tasks were run, and all %d are submitted together", out,
			n, size),
			usage.Shell("dsstar bench run --bench "+r.Bench+" --tasks TASKS --agent "+r.Agent+
				" --out %s   # without --limit, --ids, --split", out+"-all"))
	}
	if n := r.Missing(); n > 0 {
		return nil, usage.New(fmt.Sprintf("%s: %d tasks have no answer", out, n),
			usage.Shell("dsstar bench run --resume --out %s   # gets the answers that are missing", out))
	}
	return bench.Submission(runner.Answers(r, suite.ByID())), nil
}

// Package bench has the commands of dsstar bench.
package bench

import (
	"context"
	"fmt"
	"io"
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
	Host           site.Host
	Stdout, Stderr io.Writer
	File           io.Writer // standard output, unfiltered unless it is a terminal
	ExitHelp       string    // what the exit codes mean
	CheckBudget    func(*configs.Settings) error
	CheckMethod    func(*configs.Settings) error
	AgentConfig    func(*configs.Settings) agent.Config
	Key            func() record.Key
	Model          func(*configs.Settings, func(llm.Request, string)) (llm.Model, error)
	ModelLine      func(*configs.Settings) string
	Prices         func(*configs.Settings) func(role string) (llm.Price, bool)
	Replayed       func(trace string) (llm.Model, error) // the model of a trace
	NewProgress    func(quiet bool) *ui.Progress
	// Agree asks the user to agree, and does not ask if yes is set.
	Agree func(ctx context.Context, p *ui.Progress, yes bool, to site.Consent) error
	// ReadFile reads a file, or a pipe, of at most so many bytes.
	ReadFile func(path string, most int64) ([]byte, error)
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
		Below: []cli.Command{a.runCommand(), a.scoreCommand(), a.submitCommand(), tableCommand(),
			compareCommand()},
	}
}

// taken are the settings that have flags here.
const taken = "all -learn -jobs -include -mask -max-download -server"

func paperNames() []string {
	var names []string
	for _, p := range tables.Papers() {
		names = append(names, p.Name)
	}
	return names
}

func tableCommand() cli.Command {
	var papers cli.Commas
	return cli.Command{
		Use:   "table --paper NAME [OUT…]",
		Short: "Print a paper's table, with ours below the published figures",
		Long: `Print a table of a paper: the published figures, and below them a row for each run,
with the number of tasks and the 95 % interval.

Tables: ` + strings.Join(paperNames(), ", "),
		Example: "  dsstar bench table --paper ds-star:1 first second\n  dsstar bench table --paper " +
			"ds-star:4 --paper ds-star:fig4 first",
		Flags: []cli.Flag{cli.Opt(&papers, "paper", "", "the table, such as ds-star:1; may be repeated")},
		Args:  cli.Any,
		Run: func(_ context.Context, c *cli.Call) (cli.Output, error) {
			made, err := makeTables(papers, c.Args)
			return cli.Text(strings.Join(made, "\n")), err
		},
	}
}

// makeTables returns tables of papers with the runs at paths, as Markdown.
func makeTables(papers, paths []string) (made []string, _ error) {
	wrong := func(text string) error {
		return usage.New(text+"; the tables are "+strings.Join(paperNames(), ", "),
			usage.Shell("dsstar bench table --paper ds-star:1 OUT"))
	}
	if len(papers) == 0 {
		return nil, wrong("--paper is missing")
	}
	runs, err := readRuns(paths)
	if err != nil {
		return nil, err
	}
	all := tables.Papers()
	for _, name := range papers {
		i := slices.IndexFunc(all, func(t tables.Table) bool { return t.Name == name })
		if i < 0 {
			return nil, wrong(fmt.Sprintf("--paper: unknown table %q", name))
		}
		made = append(made, all[i].Markdown(runs))
	}
	return made, nil
}

func compareCommand() cli.Command {
	return cli.Command{
		Use:   "compare A B",
		Short: "Compare two runs, task by task",
		Long: "Compare two runs of one benchmark over the tasks that both have: what changed, " +
			"whether that\nmay be chance (McNemar's exact test, or the sign test), and what they cost.",
		Example: "  dsstar bench compare first second",
		Args:    cli.Exactly(2, "two runs", usage.Shell("dsstar bench compare A B")),
		Run: func(_ context.Context, c *cli.Call) (cli.Output, error) {
			runs, err := readRuns(c.Args)
			if err != nil {
				return cli.Output{}, err
			}
			page, err := tables.Compare(runs[0], runs[1])
			if err != nil {
				err = usage.New(err.Error(), usage.Shell("dsstar bench compare A B   # runs of one benchmark"))
			}
			return cli.Text(page), err
		},
	}
}

func (a *App) submitCommand() cli.Command {
	var flags suiteFlags
	return cli.Command{
		Use:     "submit OUT",
		Short:   "Print the answers of a run for a leaderboard",
		Long:    "Print the answers of a run for DABStep's leaderboard. Every task must have one.",
		Example: "  dsstar bench submit first > submission.jsonl",
		Flags:   []cli.Flag{cli.Opt(&flags.tasks, "tasks", "", "the benchmark, if it was moved")},
		Args:    cli.Exactly(1, "one run", usage.Shell("dsstar bench submit OUT")),
		Run: func(_ context.Context, c *cli.Call) (none cli.Output, err error) {
			r, err := readRun(c.Args[0])
			if err != nil {
				return none, err
			}
			page, err := submission(r, &flags)
			if err == nil {
				_, err = a.File.Write(page)
			}
			return none, err
		},
	}
}

// submission returns the submission of a run. A task without an answer gets
// an empty one. A run that covers only part of a benchmark is refused.
func submission(r runner.Result, flags *suiteFlags) ([]byte, error) {
	f := flagsOf(r, flags)
	f.split = ""
	suite, err := f.open("submit")
	if err != nil {
		return nil, err
	}
	if n, size := len(r.Items), len(suite.Tasks); n < size {
		return nil, usage.New(fmt.Sprintf("%s: %d tasks were run, and all %d are submitted together", r.Path,
			n, size),
			usage.Shell("dsstar bench run --bench "+r.Bench+" --tasks TASKS --agent "+r.Agent+
				" --out %s   # without --limit, --ids, --split", r.Path+"-all"))
	}
	if n := r.Missing(); n > 0 {
		return nil, usage.New(fmt.Sprintf("%s: %d tasks have no answer", r.Path, n),
			usage.Shell("dsstar bench run --resume --out %s   # gets the answers that are missing", r.Path))
	}
	return bench.Submission(runner.Answers(r, suite.ByID())), nil
}

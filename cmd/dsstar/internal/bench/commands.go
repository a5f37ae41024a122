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
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/tables"
	"dsstar/agent/llm"
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
	ExitHelp    string                        // what the exit codes mean
	Check       func(*configs.Settings) error // of budget and method
	AgentConfig func(*configs.Settings) agent.Config
	Model       func(*configs.Settings, func(llm.Request, string)) (llm.Model, error)
	ModelLine   func(*configs.Settings) string
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
		Long:  help + a.ExitHelp + "\nA stopped run continues by the same command with --resume.",
		Below: []cli.Command{a.runCommand(), a.scoreCommand(), tableCommand()},
	}
}

// taken are the settings that have flags here.
const taken = "all -learn -jobs -mask -max-download -server"

func readRun(path string) (runner.Result, error) {
	r, err := runner.Read(path)
	if errors.Is(err, runner.ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return r, usage.New(fmt.Sprintf("there is no benchmark run in %s", path),
			usage.Shell("dsstar bench run --bench dir --tasks FOLDER --out %s   # starts one there", path))
	}
	return r, err
}

func tableCommand() cli.Command {
	var papers cli.Commas
	return cli.Command{
		Use:   "table --paper NAME [OUT…]",
		Short: "Print a paper's table, with ours below the published figures",
		Long: `Print a table of a paper: the published figures, and below them a row for each run,
with the number of tasks and the 95 % interval. docs/benchmarks.md lists the tables.`,
		Example: "  dsstar bench table --paper ds-star:1 first second\n  dsstar bench table --paper " +
			"ds-star:4 --paper ds-star:fig4 first",
		Flags: []cli.Flag{cli.Opt(&papers, "paper", "", "the table, such as ds-star:1; may be repeated")},
		Args:  cli.Any,
		Run: func(_ context.Context, c *cli.Call) (none cli.Output, _ error) {
			var runs []runner.Result
			for _, path := range c.Args {
				r, err := readRun(path)
				if err != nil {
					return none, err
				}
				runs = append(runs, r)
			}
			var made, names []string
			for _, t := range tables.Papers() {
				if names = append(names, t.Name); slices.Contains(papers, t.Name) {
					made = append(made, t.Markdown(runs))
				}
			}
			if len(made) == 0 || len(made) < len(papers) {
				return none, usage.New("--paper names one or more of "+strings.Join(names, ", "),
					usage.Again("--paper", names[0]))
			}
			return cli.Text(strings.Join(made, "\n")), nil
		},
	}
}

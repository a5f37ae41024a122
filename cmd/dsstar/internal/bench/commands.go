// Package bench has the commands of dsstar bench.
package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/tables"
	"dsstar/agent/llm"
	"dsstar/agent/record"
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
	NoArgs         cobra.PositionalArgs
	AddSettings    func(*pflag.FlagSet) // flags of model, kernel and sandbox
	Settings       func(*pflag.FlagSet) (*configs.Settings, error)
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
func (a *App) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Run agents over benchmarks, score them, print the papers' tables",
		Long:  help + a.ExitHelp + "\nA stopped run continues with: dsstar bench run --resume --out OUT",
		Args:  a.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.runCommand(), a.scoreCommand(), a.submitCommand(),
		a.tableCommand(), a.compareCommand())
	return cmd
}

// settingsFlags adds the flags of settings to a command, and returns them.
func (a *App) settingsFlags(cmd *cobra.Command) *pflag.FlagSet {
	settings := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	a.AddSettings(settings)
	cmd.Flags().AddFlagSet(settings)
	return settings
}

// print prints a value as JSON or as text.
func (a *App) print(asJSON bool, value any, text func() string) error {
	if asJSON {
		return ui.JSON(a.Stdout, value)
	}
	_, err := io.WriteString(a.Stdout, text())
	return err
}

func paperNames() []string {
	var names []string
	for _, p := range tables.Papers() {
		names = append(names, p.Name)
	}
	return names
}

func (a *App) tableCommand() *cobra.Command {
	var papers []string
	cmd := &cobra.Command{
		Use:   "table --paper NAME [OUT…]",
		Short: "Print a paper's table, with ours below the published figures",
		Long: `Print a table of a paper: the published figures, and below them a row for each run,
with the number of tasks and the 95 % interval.

Tables: ` + strings.Join(paperNames(), ", "),
		Example: "  dsstar bench table --paper ds-star:1 first second\n  dsstar bench table --paper " +
			"ds-star:4 --paper ds-star:fig4 first",
	}
	cmd.Flags().StringSliceVar(&papers, "paper", nil, "the table, such as ds-star:1; may be repeated")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		made, err := makeTables(papers, args)
		if err != nil {
			return err
		}
		_, err = io.WriteString(a.Stdout, strings.Join(made, "\n"))
		return err
	}
	return cmd
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

func (a *App) compareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs, task by task",
		Long: "Compare two runs of one benchmark over the tasks that both have: what changed, " +
			"whether that\nmay be chance (McNemar's exact test, or the sign test), and what they cost.",
		Example: "  dsstar bench compare first second",
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usage.New(fmt.Sprintf("expected two runs, got %d", len(args)),
				usage.Shell("dsstar bench compare A B"))
		}
		runs, err := readRuns(args)
		if err != nil {
			return err
		}
		page, err := tables.Compare(runs[0], runs[1])
		if err != nil {
			return usage.New(err.Error(), usage.Shell("dsstar bench compare A B   # runs of one benchmark"))
		}
		_, err = io.WriteString(a.Stdout, page)
		return err
	}
	return cmd
}

func (a *App) submitCommand() *cobra.Command {
	var flags suiteFlags
	cmd := &cobra.Command{
		Use:     "submit OUT",
		Short:   "Print the answers of a run for a leaderboard",
		Long:    "Print the answers of a run for DABStep's leaderboard. Every task must have one.",
		Example: "  dsstar bench submit first > submission.jsonl",
	}
	cmd.Flags().StringVar(&flags.tasks, "tasks", "", "the benchmark, if it was moved")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage.New(fmt.Sprintf("expected one run, got %d",
				len(args)), usage.Shell("dsstar bench submit OUT"))
		}
		r, err := readRun(args[0])
		if err != nil {
			return err
		}
		page, err := submission(r, &flags)
		if err != nil {
			return err
		}
		_, err = a.File.Write(page)
		return err
	}
	return cmd
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

// Package bench has the commands of dsstar bench.
package bench

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/configs"
)

// An App is what the commands need of the program.
type App struct {
	kernels.Host
	Stdout, Stderr io.Writer
	File           io.Writer // standard output, unfiltered unless it is a terminal
	ExitHelp       string    // what the exit codes mean
	NoArgs         cobra.PositionalArgs
	AddSettings    func(*pflag.FlagSet) // flags of model, kernel and sandbox
	Settings       func(*pflag.FlagSet) (*configs.Settings, error)
	CheckBudget    func(*configs.Settings) error
	CheckMethod    func(*configs.Settings) error
	AgentConfig    func(*configs.Settings) (agent.Config, error)
	Key            func() record.Key
	Model          func(*configs.Settings, func(llm.Retry)) (llm.Model, error)
	ModelLine      func(*configs.Settings) string
	Embedder       func(*configs.Settings, func(llm.Retry)) (llm.Model, error)
	Prices         func(*configs.Settings) func(role string) (llm.Price, bool)
	// Replayed returns the model and the embedding model of a trace; the latter may be nil.
	Replayed    func(trace string) (model, embedder llm.Model, err error)
	NewProgress func(quiet bool) *progress.Progress
	// Agree shows lines and asks the user to agree. If yes is set, it does not ask.
	Agree func(ctx context.Context, p *progress.Progress, yes bool, lines []string, what,
		question string) error
	// ReadFile reads a file, or a pipe, of at most so many bytes.
	ReadFile func(path string, most int64) ([]byte, error)
	Tokens   func(record.Usage) any // as --json has them
}

const help = `Run agents over benchmarks, score their answers by the public rules, and print the
papers' tables with the results beside the published figures. docs/benchmarks.md
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
		return term.JSON(a.Stdout, value)
	}
	_, err := io.WriteString(a.Stdout, text())
	return err
}

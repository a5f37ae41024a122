package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

const learnHelp = `Learn about data from verified runs. The model proposes what each teaches: facts
with their sources, and at most three functions, cut from the accepted cells. A
function is admitted if, in a fresh process, it gives values that the run has
printed. What is added to the memory is shown, and on a terminal asked about, before
it is kept.`

func (a *app) learnCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:     "learn [flags] RUN...",
		Short:   "Add what verified runs teach to the memory of their data",
		Long:    learnHelp,
		Example: "  dsstar learn dsstar-runs/2026-11-21-which-store-sold-most",
	}
	cmd.Flags().BoolVarP(&flags.quiet, "quiet", "q", false, "no progress on standard error")
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "do not ask before the memory is changed")
	settingFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage.New("no run is named", usage.Shell("dsstar runs"),
				usage.Shell("dsstar learn --help"))
		}
		s, err := a.settings(cmd.Flags())
		if err != nil {
			return err
		}
		s.Learn = true
		if args, err = a.namedRuns(args); err != nil {
			return err
		}
		for _, run := range args {
			if err := a.learnRun(cmd.Context(), s, flags, run); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// learnRun has one run teach what it can.
func (a *app) learnRun(ctx context.Context, s *configs.Settings, flags runFlags, run string) error {
	stdout := a.stdout
	a.stdout = io.Discard // the answer is known
	defer func() { a.stdout = stdout }()
	own := *s
	j := job{runFlags: flags, settings: &own, progress: a.runProgress(flags), goOn: a.line.Only(lasting...)}
	defer j.progress.Stop()
	return a.resume(ctx, j, run, wish{})
}

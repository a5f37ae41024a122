package main

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/configs"
)

func (a *app) configCommand() *cobra.Command {
	var asJSON, defaults bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show all effective settings and where they come from",
		Long: `Show all effective settings and where they come from. Flags override environment
variables (DSSTAR_ and the key in capitals), those ./dsstar.yaml, that your own
file, and that the defaults.`,
		Example: `  dsstar config
  dsstar config --defaults > dsstar.yaml     all settings with explanations
  DSSTAR_MAX_ROUNDS=5 dsstar config`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&defaults, "defaults", false, "print all defaults, with explanations")
	settingFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if defaults {
			_, err := a.stdout.Write(configs.DefaultYAML)
			return err
		}
		s, err := a.settings(cmd.Flags())
		if err != nil {
			return err
		}
		for _, w := range s.Warnings {
			fmt.Fprintf(a.stderr, "dsstar: warning: %s\n", term.Clean(w))
		}
		if asJSON {
			type entry struct {
				Key    string `json:"key"`
				Value  any    `json:"value"`
				Source string `json:"source"`
			}
			entries := []entry{}
			for _, e := range s.Explain() {
				entries = append(entries, entry(e))
			}
			return term.JSON(a.stdout, entries)
		}
		fmt.Fprintf(a.stdout, "# your own file: %s\n# this folder's: %s\n", filepath.Join(a.configDir, "config.yaml"), projectFile)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, e := range s.Explain() {
			fmt.Fprintf(w, "%s\t%s\t%s\n", e.Key, e.Text(), e.Source)
		}
		return w.Flush()
	}
	return cmd
}

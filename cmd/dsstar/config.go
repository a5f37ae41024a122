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
		Short: "Show every effective setting and where it comes from",
		Long: `Show every effective setting and where it comes from. A flag wins over an
environment variable (DSSTAR_ and the key in capitals), that over ./dsstar.yaml,
that over your own file, that over the default.`,
		Example: `  dsstar config
  dsstar config --defaults > dsstar.yaml     every setting with its explanation
  DSSTAR_MAX_ROUNDS=5 dsstar config`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&defaults, "defaults", false, "print the file of the defaults, with its comments")
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

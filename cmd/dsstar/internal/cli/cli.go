// Package cli makes the commands of a command line from values, and prints what they return.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

// A Command is a command, or several below a name.
type Command struct {
	Use, Short, Long, Example string

	Args     Args // nil: it takes no arguments
	Flags    []Flag
	Settings string     // those whose flags it takes: see settings
	Late     bool       // Run loads the settings itself
	Excludes [][]string // flags of which only one can be given
	Needs    [][]string // a flag, another that it needs, and a value of that for the hint

	Run   func(ctx context.Context, c *Call) (Output, error) // nil: it shows its help
	Below []Command
}

// A Call is one use of a command.
type Call struct {
	Args     []string
	Flags    *pflag.FlagSet
	Settings *configs.Settings // nil for a command without settings
}

// An Output is what a command prints: with --json the value, if it has one, and else the text.
type Output struct {
	Value any
	Text  func(*strings.Builder) // nil: nothing
	Code  int                    // the exit code; 0 if all is well
}

// Text is an output that is the same with --json.
func Text(text string) Output {
	return Output{Text: func(b *strings.Builder) { b.WriteString(text) }}
}

// An Exit is an exit code without a message.
type Exit struct{ Code int }

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// A Program holds what commands need of the program that they belong to.
type Program struct {
	Stdout   io.Writer
	Settings func(*pflag.FlagSet) (*configs.Settings, error) // with those of the flags
	NoArgs   cobra.PositionalArgs
}

// Make makes a command.
func (p Program) Make(c Command) *cobra.Command {
	cmd := &cobra.Command{Use: c.Use, Short: c.Short, Long: c.Long, Example: c.Example,
		Args: cobra.ArbitraryArgs}
	cmd.Flags().SortFlags = false
	for _, f := range c.Flags {
		f.add(cmd.Flags())
	}
	for _, f := range settings(c.Settings) {
		addSetting(cmd.Flags(), f)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(choice); ok { // it cannot fail: each flag is there once
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.words,
				cobra.ShellCompDirectiveNoFileComp))
		}
	})
	if c.Args == nil {
		cmd.Args = p.NoArgs
	}
	for _, below := range c.Below {
		cmd.AddCommand(p.Make(below))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.Run == nil {
			return cmd.Help()
		}
		return p.run(cmd, c, args)
	}
	return cmd
}

// run carries out a command, and prints what it returns, also what it has before an error.
func (p Program) run(cmd *cobra.Command, c Command, args []string) (err error) {
	call := &Call{Args: args, Flags: cmd.Flags()}
	json := cmd.Flags().Lookup("json")
	if err := c.check(cmd.Flags()); err != nil {
		return err
	}
	if c.Settings != "" && !c.Late {
		if call.Settings, err = p.Settings(cmd.Flags()); err != nil {
			return err
		}
	}
	if c.Args != nil {
		if call.Args, err = c.Args(args); err != nil {
			return err
		}
	}
	out, err := c.Run(cmd.Context(), call)
	if failed := p.print(out, json != nil && json.Value.String() == "true"); failed != nil && err == nil {
		return failed
	}
	if err == nil && out.Code != 0 {
		return Exit{out.Code}
	}
	return err
}

func (p Program) print(out Output, asJSON bool) (err error) {
	switch {
	case asJSON && out.Value != nil:
		return ui.JSON(p.Stdout, out.Value)
	case out.Text != nil:
		var b strings.Builder
		out.Text(&b)
		_, err = io.WriteString(p.Stdout, b.String())
	}
	return err
}

// check refuses flags that contradict each other, or that have no effect.
func (c Command) check(flags *pflag.FlagSet) error {
	for _, all := range c.Excludes {
		given := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !flags.Changed(name) })
		if len(given) < 2 {
			continue
		}
		var hints []usage.Hint
		for _, kept := range given {
			others := slices.DeleteFunc(slices.Clone(given), func(name string) bool { return name == kept })
			for _, need := range c.Needs { // the flags that need them go with them
				if slices.Contains(others, need[1]) {
					others = append(others, need[0])
				}
			}
			hints = append(hints, usage.Without(others...))
		}
		return usage.New(fmt.Sprintf("--%s and --%s contradict each other", given[0], given[1]), hints...)
	}
	for _, need := range c.Needs {
		if flags.Changed(need[0]) && !flags.Changed(need[1]) {
			return usage.New(fmt.Sprintf("--%s needs --%s", need[0], need[1]),
				usage.Again(append([]string{"--" + need[1]}, need[2:]...)...))
		}
	}
	return nil
}

// Args checks the arguments of a command, and may put others in their place.
type Args func(args []string) ([]string, error)

// Any takes any arguments.
func Any(args []string) ([]string, error) { return args, nil }

// Table writes rows with their cells below each other.
func Table(b *strings.Builder, rows [][]string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a builder takes everything
}

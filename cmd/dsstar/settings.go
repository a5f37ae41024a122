package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/human"
)

// keyOf returns the setting that a flag sets, and its value. Most have the same name; --no-x
// sets x to false.
func keyOf(f *pflag.Flag) (key string, value string) {
	key, value = strings.ReplaceAll(f.Name, "-", "_"), f.Value.String()
	if list, ok := f.Value.(pflag.SliceValue); ok {
		value = strings.Join(list.GetSlice(), ",")
	}
	off, isOff := strings.CutPrefix(key, "no_")
	if isOff {
		key = off
		if value == "true" {
			value = "false"
		} else {
			value = "true"
		}
	}
	switch key {
	case "paper", "verifier_input", "analyzer", "second", "readings", "router":
		key = "method." + key
	}
	return key, value
}

// settings loads the settings, with the flags of the command line.
func (a *app) settings(flags *pflag.FlagSet) (*configs.Settings, error) {
	given := map[string]configs.Flag{}
	var bad error
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed, notSettings[f.Name], bad != nil:
		case f.Name == "role-model":
			bad = roleModels(flags, given)
		case f.Name == "second":
			bad = secondModel(flags, f.Value.String(), given)
		default:
			key, value := keyOf(f)
			given[key] = configs.Flag{Name: "--" + f.Name, Value: value}
		}
	})
	if bad != nil {
		return nil, bad
	}
	user := ""
	if a.configDir != "" {
		user = filepath.Join(a.configDir, "config.yaml")
	}
	s, err := configs.Load(configs.Sources{UserFile: user, ProjectFile: projectFile, Env: a.host.Env,
		Flags: given})
	if r, ok := errors.AsType[*configs.RelaxedError](err); ok {
		return nil, relaxed(r, user)
	}
	if err != nil {
		return nil, usage.New(err.Error(),
			usage.Shell("dsstar config --defaults   # every setting, with what it may be"))
	}
	isAddress := func(entry string) bool { return strings.Contains(entry, "://") }
	for _, entry := range s.AllowRead {
		if isAddress(entry) {
			s.AllowDatabases = append(s.AllowDatabases, entry)
		}
	}
	s.AllowRead = slices.DeleteFunc(slices.Clone(s.AllowRead), isAddress)
	return s, site.OnPage(s)
}

// roleModels adds the models of --role-model to the settings given.
func roleModels(flags *pflag.FlagSet, given map[string]configs.Flag) error {
	list, err := flags.GetStringArray("role-model")
	if err != nil {
		return err
	}
	for _, entry := range list {
		role, name, ok := strings.Cut(entry, "=")
		if !ok {
			return usage.New("--role-model: "+entry+" is not role=provider/name",
				usage.Again("--role-model", "coder=openai/MODEL"))
		}
		given["models."+role] = configs.Flag{Name: "--role-model", Value: name}
	}
	return nil
}

// secondModel adds the model of --second to the settings given, and has the answer derived twice.
func secondModel(flags *pflag.FlagSet, value string, given map[string]configs.Flag) error {
	name, ok := strings.CutPrefix(value, "model=")
	if !ok || name == "" {
		return usage.New("--second: "+value+" is not model=provider/name",
			usage.Again("--second", "model=openai/MODEL"))
	}
	if off := flags.Lookup("no-second"); off != nil && off.Value.String() == "true" {
		return usage.New("--second and --no-second contradict each other",
			usage.Without("no-second"), usage.Without("second"))
	}
	given["models.second"] = configs.Flag{Name: "--second", Value: name}
	given["method.second"] = configs.Flag{Name: "--second", Value: "true"}
	return nil
}

// ownFile begins a shell command that writes the user's settings file, whose folder may not
// exist yet.
func ownFile(path string) string { return "mkdir -p " + human.Shell(filepath.Dir(path)) + " && " }

// relaxed explains how the user can allow what a project file cannot: by a flag, a variable or the
// user's own file.
func relaxed(r *configs.RelaxedError, user string) error {
	if strings.Contains(r.Key, ".") { // it is in a table
		return usage.New(r.Error(),
			usage.Shell(ownFile(user)+"${EDITOR:-vi} %s   # if you mean it, move it to your own file", user))
	}
	var hints []usage.Hint
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	settingFlags(flags)
	if name := strings.ReplaceAll(r.Key, "_", "-"); flags.Lookup(name) != nil {
		flag := []string{"--" + name}
		if r.Value != "true" {
			flag = append(flag, r.Value)
		}
		hints = append(hints, usage.Again(flag...).Note("if you mean it: a flag,"))
	}
	hints = append(hints,
		usage.Shell("export DSSTAR_"+strings.ToUpper(r.Key)+"=%s   # a variable,", r.Value))
	if user != "" {
		hints = append(hints,
			usage.Shell(ownFile(user)+"echo %s >> %s   # or your own file", r.Key+": "+r.Value, user))
	}
	return usage.New(r.Error(), hints...)
}

const projectFile = "dsstar.yaml"

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
			fmt.Fprintf(a.stderr, "dsstar: warning: %s\n", ui.Clean(w))
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
			return ui.JSON(a.stdout, entries)
		}
		fmt.Fprintf(a.stdout, "# your own file: %s\n# this folder's: %s\n# list prices: of %s\n",
			filepath.Join(a.configDir, "config.yaml"), projectFile, configs.ListDate())
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, e := range s.Explain() {
			fmt.Fprintf(w, "%s\t%s\t%s\n", e.Key, e.Text(), e.Source)
		}
		return w.Flush()
	}
	return cmd
}

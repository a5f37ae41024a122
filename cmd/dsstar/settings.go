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

	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/human"
)

// settingFlags adds all flags that are settings: each has a key of the same
// name, with underscores, in the configuration files and the environment.
func settingFlags(f *pflag.FlagSet) {
	modelFlags(f)
	kernelFlags(f)
	f.Int("jobs", 0, "files looked into concurrently (default: one per core, at most 4)")
	f.StringSlice("include", nil,
		"a file or folder of the data to include although it would be skipped; . for all; "+
			"may be repeated")
	f.StringSlice("mask", nil,
		"a column, or pattern of columns, whose values no model sees; may be repeated")
	f.String("max-download", "", "size limit of a file of the web (default 2GB)")
	f.Float64("ask-above-usd", 0,
		"on a terminal, ask first if a run may cost more US dollars; 0: never (default 1)")
	sandboxFlags(f)
	serverFlag(f)
}

func modelFlags(f *pflag.FlagSet) {
	f.StringP("model", "m", "", "the model: provider/name, or replay:TRACE")
	f.StringArray("role-model", nil, "another model for one role: role=provider/name; may be repeated")
	f.String("base-url", "", "an OpenAI-compatible endpoint, instead of the provider's")
	f.String("api-key-env", "", "the environment variable with the key for --base-url")
	f.String("embedding-model", "",
		"a model that ranks files if there are more than --top-k: provider/name")
	f.Int("context", 0, "the size of the model's context in tokens, if it is small")
	f.Int("max-rounds", 0, "maximum number of steps to try (default 20)")
	f.Int("debug-tries", 0, "maximum number of repairs of a cell (default 3)")
	f.Int("top-k", 0, "maximum number of files to show to the model (default 100)")
	f.Float64("max-cost", 0, "cost limit in US dollars")
	f.Int("max-calls", 0, "limit on model calls")
	f.Duration("max-time", 0, "time limit of the run")
	f.Bool("no-cache", false, "do not cache descriptions of files")
	f.String("memory", "", "the folder of what earlier questions taught, or off (default .dsstar beside the data)")
	f.Bool("learn", false, "add what a verified answer teaches to the memory of the data")
	methodFlags(f)
}

// methodFlags adds the flags of the method; docs/method.md describes them.
func methodFlags(f *pflag.FlagSet) {
	f.String("second", "", "another model for the second derivation: model=provider/name")
	f.Bool("no-second", false, "do not derive the answer a second time; no answer is verified then")
	f.Bool("no-readings", false, "do not name other readings of the question")
	f.String("analyzer", "", "none: files are not described to the model (default profile)")
	f.Bool("paper", false, "DS-STAR as published, a method of its own")
	f.String("verifier-input", "", "with --paper: what the verifier sees: full or query-plan")
	f.Bool("no-router", false, "with --paper: only add steps, never go back")
}

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

func kernelFlags(f *pflag.FlagSet) {
	f.String("python", "", "your own interpreter, with ipykernel, numpy and pandas")
	f.String("kernel", "",
		"a kernelspec, or a running kernel by id, notebook or URL (see dsstar kernels)")
	f.Duration("cell-timeout", 0, "timeout of a cell (default 5m)")
	f.String("rollback", "", "how a session goes back: auto, checkpoint, replay or off (default auto)")
}

// sandboxFlags adds the flags that relax the sandbox. Errors in cells name them in hints.
func sandboxFlags(f *pflag.FlagSet) {
	f.String("sandbox", "",
		"what confines the cells: auto, full, builtin, external or off (default auto)")
	f.Bool("allow-net", false, "cells may use the network")
	f.StringSlice("allow-read", nil, "another file or folder that cells may read, or the address of a run's database; may be repeated")
	f.StringSlice("allow-write", nil, "another folder that cells may write; may be repeated")
	f.StringSlice("allow-env", nil, "an environment variable that cells get; may be repeated")
	f.Bool("allow-gpu", false, "cells may use graphics processors")
	f.Bool("allow-multiprocessing", false,
		"cells may share memory between processes (needed in builtin only)")
	f.String("max-memory", "",
		"memory of the session and its frozen copies, such as 4GB (default: 3/4 of what is free)")
	f.Int("max-processes", 0, "limit on processes and threads of cells (default 256)")
	f.String("max-file", "", "size limit of a file that a cell writes (default 2GB)")
	f.String("max-folder", "", "size limit of all files that cells write (default 4GB)")
}

func serverFlag(f *pflag.FlagSet) {
	f.String("server", "",
		"URL of a Jupyter server whose kernels to use, with its token in JUPYTER_TOKEN")
}

// notSettings are the flags without a settings key.
var notSettings = map[string]bool{
	"data": true, "engine": true, "guidelines": true, "out": true, "json": true, "quiet": true, "yes": true,
	"help": true, "version": true,
	"question": true, "review": true, "edit": true, "set": true, "ask": true, "keep": true,
	"answer": true, "choose": true, "progress": true, "last": true, "drop": true, "note": true,
	"fresh": true,
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
	s, err := configs.Load(configs.Sources{UserFile: user, ProjectFile: projectFile, Env: a.Env,
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
	return s, kernels.OnPage(s)
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

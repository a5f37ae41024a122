package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/human"
)

// settingFlags adds all flags that are settings: each has a key of the same
// name, with underscores, in the configuration files and the environment.
func settingFlags(f *pflag.FlagSet) {
	modelFlags(f)
	kernelFlags(f)
	f.Int("jobs", 0, "kernels that describe files at the same time (default: one a core, at most 4)")
	f.StringSlice("include", nil, "a file or folder of the data that is skipped otherwise, or . for all; may be repeated")
	f.Int("ask-above-tokens", 0, "ask before describing files takes more input tokens; 0: never (default 100000)")
	sandboxFlags(f)
	serverFlag(f)
}

func modelFlags(f *pflag.FlagSet) {
	f.StringP("model", "m", "", "the model, as provider/name, or replay:TRACE")
	f.StringArray("role-model", nil, "another model for one role, as role=provider/name; may be repeated")
	f.String("base-url", "", "an OpenAI-compatible endpoint to use instead of the provider's")
	f.String("api-key-env", "", "the name of the variable that holds the key for --base-url")
	f.String("embedding-model", "", "a model that ranks more than --top-k files, as provider/name")
	f.Int("context", 0, "the tokens that the model's context holds, if they are few")
	f.Int("max-rounds", 0, "steps that are tried at most (default 20)")
	f.Int("debug-tries", 0, "repairs of one cell at most (default 3)")
	f.Int("top-k", 0, "files that are shown to the model at most (default 100)")
	f.Float64("max-cost", 0, "US dollars that the run may cost; its model needs a price in the settings")
	f.Int("max-calls", 0, "model calls that the run may make")
	f.Duration("max-time", 0, "time that the run may take")
	f.Bool("no-cache", false, "neither use nor keep descriptions of files")
	methodFlags(f)
}

// methodFlags adds the flags that switch elements of the loop off; docs/method.md has the table.
func methodFlags(f *pflag.FlagSet) {
	f.Bool("paper", false, "DS-STAR as published, wherever dsstar differs")
	f.String("verifier-input", "", "what the verifier sees: full or query-plan")
	f.Int("candidates", 0, "cells that are tried for each step, of which the verifier picks one (default 1)")
	f.Bool("no-analyzer", false, "do not describe the files")
	f.Bool("no-router", false, "only add steps, never go back")
	f.Bool("no-reasons", false, "the verdict does not say what is missing")
	f.Bool("no-documents", false, "describe documents and small files instead of showing them")
	f.Bool("no-families", false, "a description script of its own for every file")
	f.Bool("no-form-check", false, "do not hold the answer's form against the guidelines")
	f.Bool("no-computed", false, "let the last cell print a constant")
	f.Bool("no-unfinished", false, "ask the router also when the judge finds every step right")
	f.Bool("no-inconclusive", false, "no verdict that the data hold no answer")
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
	if key != "cache" && (isOff || key == "paper" || key == "verifier_input" || key == "candidates") {
		key = "method." + key
	}
	return key, value
}

func kernelFlags(f *pflag.FlagSet) {
	f.String("python", "", "an interpreter of your own, with ipykernel, numpy and pandas")
	f.String("kernel", "", "an installed kernelspec, or a running kernel by id, notebook or URL: dsstar kernels lists them")
	f.Duration("cell-timeout", 0, "how long one cell may run (default 5m)")
	f.String("rollback", "", "how a session goes back: auto, checkpoint, replay or off (default auto)")
}

// sandboxFlags adds the flags that relax the sandbox. Errors in cells name them in hints.
func sandboxFlags(f *pflag.FlagSet) {
	f.String("sandbox", "", "what confines the cells: auto, full, builtin, external or off (default auto)")
	f.Bool("allow-net", false, "cells may use the network")
	f.StringSlice("allow-read", nil, "a file or folder that cells may read beside the data; may be repeated")
	f.StringSlice("allow-write", nil, "a folder that cells may write beside files/; may be repeated")
	f.StringSlice("allow-env", nil, "a variable of your environment that cells may have; may be repeated")
	f.Bool("allow-gpu", false, "cells may use graphics processors")
	f.Bool("allow-multiprocessing", false, "cells may share memory between processes (needed in builtin only)")
	f.String("max-memory", "", "memory for the session and the frozen copies of it, as 4GB (default: 3/4 of what is free)")
	f.Int("max-processes", 0, "processes and threads that cells may have (default 256)")
	f.String("max-file", "", "size of one file that a cell may write (default 2GB)")
	f.String("max-folder", "", "size of all files that cells may write (default 4GB)")
}

func serverFlag(f *pflag.FlagSet) {
	f.String("server", "", "the URL of a Jupyter server whose kernels are used; its token in JUPYTER_TOKEN")
}

// notSettings are the flags without a settings key.
var notSettings = map[string]bool{
	"data": true, "guidelines": true, "out": true, "json": true, "quiet": true, "yes": true, "keep-kernel": true, "help": true, "version": true,
	"question": true, "review": true, "edit": true, "set": true, "ask": true, "keep": true,
}

// settings loads the settings, with the flags of the command line.
func (a *app) settings(flags *pflag.FlagSet) (*configs.Settings, error) {
	given := map[string]configs.Flag{}
	var bad error
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed, notSettings[f.Name]:
		case f.Name == "role-model":
			list, err := flags.GetStringArray(f.Name)
			if err != nil {
				bad = err
			}
			for _, entry := range list {
				role, name, ok := strings.Cut(entry, "=")
				if !ok {
					bad = usage.New("--role-model: "+entry+" is not role=provider/name", usage.Again("--role-model", "coder=openai/MODEL"))
				}
				given["models."+role] = configs.Flag{Name: "--role-model", Value: name}
			}
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
	s, err := configs.Load(configs.Sources{UserFile: user, ProjectFile: projectFile, Env: a.Env, Flags: given})
	if r, ok := errors.AsType[*configs.RelaxedError](err); ok {
		return nil, relaxed(r, user)
	}
	if err != nil {
		return nil, usage.New(err.Error(), usage.Shell("dsstar config --defaults   # every setting, with what it may be"))
	}
	return s, kernels.OnPage(s)
}

// ownFile begins a shell command that writes the user's settings file, whose folder may not
// exist yet.
func ownFile(path string) string { return "mkdir -p " + human.Shell(filepath.Dir(path)) + " && " }

// relaxed explains how the user can allow what a project's file must not: by a flag, a variable
// or the user's own file.
func relaxed(r *configs.RelaxedError, user string) error {
	if strings.Contains(r.Key, ".") { // it is in a table
		return usage.New(r.Error(), usage.Shell(ownFile(user)+"${EDITOR:-vi} %s   # if you mean it, move it to your own file", user))
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
	hints = append(hints, usage.Shell("export DSSTAR_"+strings.ToUpper(r.Key)+"=%s   # a variable,", r.Value))
	if user != "" {
		hints = append(hints, usage.Shell(ownFile(user)+"echo %s >> %s   # or your own file", r.Key+": "+r.Value, user))
	}
	return usage.New(r.Error(), hints...)
}

const projectFile = "dsstar.yaml"

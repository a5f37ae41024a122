package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flagGroup is a title under which help lists flags, with their names.
type flagGroup struct{ title, names string }

var flagGroups = []flagGroup{
	{"Data", "data last engine include mask question memory learn jobs top-k max-download"},
	{"Model", "model role-model second base-url api-key-env context"},
	{"Method", "guidelines fresh ask choose drop note review max-rounds debug-tries no-second no-readings " +
		"rollback analyzer paper verifier-input no-router"},
	{"Limits", "max-cost max-calls max-time cell-timeout"},
	{"Kernel", "python kernel server keep"},
	{"Sandbox", "sandbox allow-net allow-read allow-write allow-env allow-gpu allow-multiprocessing " +
		"max-memory max-processes max-file max-folder"},
	{"Output", "out answer json progress quiet yes help"},
}

// groupFlags has the help of a command and those below it list long lists of flags by group.
func groupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("byGroup", byGroup)
	const all = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), all, "{{byGroup .LocalFlags}}", 1))
}

// byGroup describes flags, those that are in no group first.
func byGroup(flags *pflag.FlagSet) string {
	const few = 15 // lines
	if all := flags.FlagUsages(); strings.Count(all, "\n") < few {
		return "Flags:\n" + strings.TrimRight(all, "\n")
	}
	rest := flagGroup{title: "Flags"}
	flags.VisitAll(func(f *pflag.Flag) {
		has := func(g flagGroup) bool { return slices.Contains(strings.Fields(g.names), f.Name) }
		if !slices.ContainsFunc(flagGroups, has) {
			rest.names += " " + f.Name
		}
	})
	var parts []string
	for _, group := range slices.Concat([]flagGroup{rest}, flagGroups) {
		own := pflag.NewFlagSet("", pflag.ContinueOnError)
		own.SortFlags = false
		for _, name := range strings.Fields(group.names) {
			if f := flags.Lookup(name); f != nil {
				own.AddFlag(f)
			}
		}
		if own.HasFlags() {
			parts = append(parts, group.title+":\n"+strings.TrimRight(own.FlagUsages(), "\n"))
		}
	}
	return strings.Join(parts, "\n\n")
}

// settingFlags adds all flags that are settings: each has a key of the same name, with underscores,
// in the configuration files and the environment.
func settingFlags(f *pflag.FlagSet) {
	modelFlags(f)
	kernelFlags(f)
	dataFlags(f)
	sandboxFlags(f)
	serverFlag(f)
}

// modelFlags adds the flags of whatever asks a model questions about files.
func modelFlags(f *pflag.FlagSet) {
	endpointFlags(f)
	limitFlags(f)
	descriptionFlags(f)
	f.Int("max-rounds", 0, "maximum number of steps to try (default 20)")
	f.Bool("learn", false, "add what a verified answer teaches to the memory of the data")
	f.String("second", "", "another model for the second derivation: model=provider/name")
	f.Bool("no-second", false, "do not derive the answer a second time; no answer is verified then")
	f.Bool("no-readings", false, "do not name other readings of the question")
	f.String("verifier-input", "", "with --paper: what the verifier sees: full or query-plan")
	f.Bool("no-router", false, "with --paper: only add steps, never go back")
}

// endpointFlags adds the flags that say which models are asked, and where.
func endpointFlags(f *pflag.FlagSet) {
	f.StringP("model", "m", "", "the model: provider/name, or replay:TRACE")
	f.StringArray("role-model", nil, "another model for one role: role=provider/name; may be repeated")
	f.String("base-url", "", "an OpenAI-compatible endpoint, instead of the provider's")
	f.String("api-key-env", "", "the environment variable with the key for --base-url")
	f.Int("context", 0, "the size of the model's context in tokens, if it is small")
}

func limitFlags(f *pflag.FlagSet) {
	f.Float64("max-cost", 0, "cost limit in US dollars")
	f.Int("max-calls", 0, "limit on model calls")
	f.Duration("max-time", 0, "time limit of the run")
}

// descriptionFlags adds the flags of how files are described.
func descriptionFlags(f *pflag.FlagSet) {
	f.Int("top-k", 0, "maximum number of files to show to the model (default 100)")
	f.String("memory", "",
		"the folder of what earlier questions taught, or off (default .dsstar beside the data)")
	f.Int("debug-tries", 0, "maximum number of repairs of a cell (default 3)")
	f.String("analyzer", "", "none: files are not described to the model (default profile)")
	f.Bool("paper", false, "DS-STAR as published, a method of its own")
}

// dataFlags adds the flags that say which data there are.
func dataFlags(f *pflag.FlagSet) {
	f.Int("jobs", 0, "files looked into concurrently (default: one per core, at most 4)")
	f.StringSlice("include", nil,
		"a file or folder of the data to include although it would be skipped; . for all; "+
			"may be repeated")
	f.StringSlice("mask", nil,
		"a column, or pattern of columns, whose values no model sees; may be repeated")
	f.String("max-download", "", "size limit of a file of the web (default 2GB)")
}

func kernelFlags(f *pflag.FlagSet) {
	interpreterFlags(f)
	f.String("rollback", "", "how a session goes back: auto, checkpoint, replay or off (default auto)")
}

// interpreterFlags adds the flags that say what runs cells.
func interpreterFlags(f *pflag.FlagSet) {
	f.String("python", "", "your own interpreter, with ipykernel, numpy and pandas")
	f.String("kernel", "",
		"a kernelspec, or a running kernel by id, notebook or URL (see dsstar kernels)")
	f.Duration("cell-timeout", 0, "timeout of a cell (default 5m)")
}

// sandboxFlags adds the flags that relax the sandbox. Errors in cells name them in hints.
func sandboxFlags(f *pflag.FlagSet) {
	f.String("sandbox", "",
		"what confines the cells: auto, full, builtin, external or off (default auto)")
	f.Bool("allow-net", false, "cells may use the network")
	f.StringSlice("allow-read", nil,
		"another file or folder that cells may read, or the address of a run's database; may be repeated")
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
	"answer": true, "choose": true, "progress": true, "last": true, "drop": true, "retract": true, "note": true,
	"fresh": true, "open": true, "remove": true,
	"allow-errors": true, "check": true, "parameters": true, "round": true, "timeout": true, "tolerance": true,
}

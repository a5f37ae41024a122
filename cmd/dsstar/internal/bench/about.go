package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
)

// measured holds the prefixes of the settings that results depend on.
var measured = []string{
	"models.", "method.", "context", "temperature", "max_output_tokens",
	"max_cost", "max_calls", "max_time", "max_rounds", "debug_tries", "top_k", "max_files",
	"result_chars", "description_chars", "cell_timeout", "rollback", "allow_net",
}

// about returns the description of the run.
func (b *runFlags) about(f *pflag.FlagSet, s *configs.Settings, tasks []bench.Task) runner.About {
	about := runner.About{Bench: b.bench, Agent: b.agent, Model: s.Model,
		Setup: map[string]string{"compat": b.compat}}
	for _, e := range s.Explain() {
		if e.Source != "default" && slices.ContainsFunc(measured,
			func(begin string) bool { return strings.HasPrefix(e.Key, begin) }) {
			about.Setup[e.Key] = e.Text()
		}
	}
	for _, name := range []string{"data-setting", "seed", "max-steps", "reasoning", "tasks", "data",
		"split"} {
		value := f.Lookup(name).Value.String()
		switch {
		case value == f.Lookup(name).DefValue, name == "split" && (value == "all" || value == "test"):
			continue
		case name == "tasks" || name == "data":
			value = disk.Absolute(value)
		}
		about.Setup[strings.ReplaceAll(name, "-", "_")] = value
	}
	for _, t := range tasks {
		about.Items = append(about.Items, runner.Item{ID: t.ID, Level: t.Level, Domain: t.Domain})
	}
	return about
}

// folder creates the folder of a run, or reopens it if the run is the same.
func (b *runFlags) folder(about runner.About) (*runner.Folder, error) {
	other := usage.Again("--out", b.out+"-2").But("resume").Note("another run")
	if !b.resume {
		f, err := runner.Create(b.out, about)
		if errors.Is(err, runner.ErrExists) {
			return nil, usage.New(err.Error(), usage.Again("--resume"), other)
		}
		return f, err
	}
	past, err := readRun(b.out)
	if err != nil {
		return nil, err
	}
	if setting := past.Differs(about); setting != "" {
		return nil, usage.New(fmt.Sprintf("%s was run with %s, and a run cannot change this setting",
			b.out, setting), other)
	}
	f, err := runner.Open(b.out)
	if err == nil {
		f.Forget(func(r runner.Record) bool { return slices.Contains(b.retry, r.Cause) })
	}
	return f, err
}

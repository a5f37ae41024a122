package bench

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
)

// notOfRun are the flags that may differ when a run is resumed.
var notOfRun = []string{
	"out", "resume", "retry", "jobs", "server", "json", "quiet", "yes", "help",
	"total-cost", "total-calls", "total-time",
	"python", "kernel", "sandbox", "max-memory", "max-processes", "max-file", "max-folder",
}

// past sets flags that the user has not given to their values in the resumed run. It returns nil for
// a new run.
func (b *runFlags) past(f *pflag.FlagSet) (*runner.About, error) {
	switch {
	case b.out == "":
		return nil, usage.New("--out is not given",
			usage.Again("--out", filepath.Join("bench-runs", b.agent)))
	case !b.resume:
		return nil, nil
	}
	r, err := readRun(b.out)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	f.Visit(func(flag *pflag.Flag) { own[flag.Name] = true })
	for _, arg := range r.Args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if f.Lookup(name) == nil || own[name] {
			continue
		}
		if err := f.Set(name, value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", b.out, arg, err)
		}
	}
	return &r.About, nil
}

// noSecret refuses an address that contains a key, because bench.json records the command line and
// users share runs.
func noSecret(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return nil // settings say what is wrong with it
	}
	secret := u.User != nil
	for name := range u.Query() {
		secret = secret || !strings.HasSuffix(strings.ToLower(name), "version") // such as api-version
	}
	if !secret {
		return nil
	}
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return usage.New("--base-url: the URL contains a key or password, and bench.json would "+
		"record it",
		usage.Again("--base-url", clean.String(), "--api-key-env",
			"NAME").Note("the variable NAME has the key"))
}

// args returns the flags of a run, as past reads them, with absolute paths.
func (b *runFlags) args(f *pflag.FlagSet) []string {
	var all []string
	f.Visit(func(flag *pflag.Flag) {
		if slices.Contains(notOfRun, flag.Name) {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch path, isFile := strings.CutPrefix(value, "@"); {
			case flag.Name == "tasks" || flag.Name == "data":
				value = disk.Absolute(value)
			case flag.Name == "ids" && isFile:
				value = "@" + disk.Absolute(path)
			}
			all = append(all, "--"+flag.Name+"="+value)
		}
	})
	return all
}

// measured holds the prefixes of the settings that results depend on.
var measured = []string{
	"models.", "method.", "context", "temperature", "max_output_tokens",
	"max_cost", "max_calls", "max_time", "max_rounds", "debug_tries", "top_k", "max_files",
	"result_chars", "description_chars", "cell_timeout", "rollback", "allow_net",
}

// about returns the description of the run.
func (b *runFlags) about(f *pflag.FlagSet, s *configs.Settings, tasks []bench.Task) runner.About {
	about := runner.About{Bench: b.bench, Agent: b.agent, Model: s.Model,
		Setup: map[string]string{"compat": b.compat}, Args: b.args(f)}
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
func (b *runFlags) folder(about runner.About, past *runner.About) (*runner.Folder, error) {
	if !b.resume {
		f, err := runner.Create(b.out, about)
		if errors.Is(err, runner.ErrExists) {
			return nil, usage.New(err.Error(), usage.Shell("dsstar bench run --resume --out %s", b.out),
				usage.Again("--out", b.out+"-2"))
		}
		return f, err
	}
	if setting := past.Differs(about); setting != "" {
		return nil, usage.New(
			fmt.Sprintf("%s was run with %s, and a run cannot change this setting", b.out, setting),
			usage.Shell("dsstar bench run --resume --out %s   # as it was", b.out),
			usage.Again("--out", b.out+"-2").But("resume").Note("another run"))
	}
	f, err := runner.Open(b.out)
	if err == nil {
		f.Forget(func(r runner.Record) bool { return slices.Contains(b.retry, r.Cause) })
	}
	return f, err
}

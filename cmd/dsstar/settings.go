package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/bench"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// settings loads the settings, with the flags of the command line.
func (a *app) settings(flags *pflag.FlagSet) (*configs.Settings, error) {
	given, err := cli.Given(flags)
	if err != nil {
		return nil, err
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
	s.AllowDatabases = append(s.AllowDatabases, lists.Where(s.AllowRead, isAddress)...)
	s.AllowRead = slices.DeleteFunc(slices.Clone(s.AllowRead), isAddress)
	a.loaded = s
	return s, nil
}

// strays are the warnings of the settings, once.
func (a *app) strays() (all []string) {
	if a.loaded != nil {
		all, a.loaded.Warnings = a.loaded.Warnings, nil
	}
	return all
}

// ownFile begins a shell command that writes the user's settings file, whose folder may not
// exist yet.
func ownFile(path string) string { return "mkdir -p " + human.Shell(filepath.Dir(path)) + " && " }

// relaxed explains how the user can allow what a project file cannot: by a flag, a variable or the
// user's own file.
func relaxed(r *configs.RelaxedError, user string) error {
	own := usage.Shell(ownFile(user)+"${EDITOR:-vi} %s   # if you mean it, move it to your own file", user)
	if strings.Contains(r.Key, ".") { // it is in a table
		return usage.New(r.Error(), own)
	}
	var hints []usage.Hint
	for _, f := range configs.Flags() {
		if f.Key == r.Key {
			flag := []string{"--" + f.Name, r.Value}
			if r.Value == "true" {
				flag = flag[:1]
			}
			hints = append(hints, usage.Again(flag...).Note("if you mean it: a flag,"))
		}
	}
	variable := usage.Shell("export DSSTAR_"+strings.ToUpper(r.Key)+"=%s   # a variable", r.Value)
	return usage.New(r.Error(), append(hints, variable, own)...)
}

const projectFile = "dsstar.yaml"

func (a *app) configCommand() cli.Command {
	var defaults bool
	return cli.Command{
		Use:   "config",
		Short: "Show all effective settings and where they come from",
		Long: `Show all effective settings and where they come from. Flags override environment
variables (DSSTAR_ and the key in capitals), those ./dsstar.yaml, that your own
file, and that the defaults.`,
		Example: `  dsstar config
  dsstar config --defaults > dsstar.yaml     all settings with explanations
  DSSTAR_MAX_ROUNDS=5 dsstar config`,
		Flags: []cli.Flag{
			cli.Opt(new(bool), "json", "", "print JSON"),
			cli.Opt(&defaults, "defaults", "", "print all defaults, with explanations"),
		},
		Settings: "all", Late: true,
		Run: func(_ context.Context, c *cli.Call) (cli.Output, error) {
			if defaults {
				return cli.Output{Text: func(b *strings.Builder) { b.Write(configs.DefaultYAML) }}, nil
			}
			s, err := a.settings(c.Flags)
			if err != nil {
				return cli.Output{}, err
			}
			for _, w := range a.strays() {
				a.warn("%s", w)
			}
			all := s.Explain()
			return cli.Output{Value: all, Text: func(b *strings.Builder) {
				fmt.Fprintf(b, "# your own file: %s\n# this folder's: %s\n# list prices: of %s\n",
					filepath.Join(a.configDir, "config.yaml"), projectFile, configs.ListDate())
				row := func(e configs.Entry) []string { return []string{e.Key, e.Text(), e.Source} }
				cli.Table(b, lists.Map(all, row))
			}}, nil
		},
	}
}

func method(s configs.Method) record.Method {
	m := record.Method{Script: s.Paper, NoAnalyzer: s.Analyzer == "none", NoRouter: !s.Router,
		PlanOnly: s.VerifierInput == "query-plan"}
	if !s.Paper {
		m.NoSecond, m.NoReadings = !s.Second, !s.Readings
	}
	return m
}

// checkMethod rejects settings that contradict each other.
func checkMethod(s *configs.Settings) error {
	m := method(s.Method)
	if (m.NoRouter || m.PlanOnly) && !m.Script {
		return usage.New("--no-router and --verifier-input are of the paper's method", usage.Again("--paper"))
	}
	return nil
}

func modelOf(s *configs.Settings, role string) string {
	return cmp.Or(s.Models[role], s.Model)
}

// prices returns the prices of the roles' models, or nil if the price of the main model is unknown.
func prices(s *configs.Settings) func(role string) (llm.Price, bool) {
	if _, ok := s.Price(s.Model); !ok {
		return nil
	}
	return func(role string) (llm.Price, bool) {
		p, ok := s.Price(modelOf(s, role))
		return llm.Price(p), ok
	}
}

// checkBudget rejects --max-cost if the price of a model is unknown.
func checkBudget(s *configs.Settings) error {
	if s.MaxCost == 0 || strings.HasPrefix(s.Model, replayPrefix) {
		return nil // a replay costs nothing
	}
	for _, role := range append([]string{""}, roleNames(s)...) {
		name := modelOf(s, role)
		if _, ok := s.Price(name); !ok {
			row, paid := fmt.Sprintf(`"%s": {input: 1.25, cached: 0.13, output: 10}`,
				name), "   # US dollars a million tokens: put in what you pay"
			hint := ownFile(s.UserFile) +
				fmt.Sprintf(`echo 'prices: {%s}' >> %s%s`, row, human.Shell(s.UserFile), paid)
			if len(s.Prices) > 0 || s.UserFile == "" {
				hint = fmt.Sprintf(
					"%s   # belongs under prices: in your settings; US dollars per million tokens", row)
			}
			return usage.New(fmt.Sprintf("--max-cost: the price of %s is unknown", name), usage.Shell(hint))
		}
	}
	return nil
}

// roleNames returns the roles with a model of their own, in order.
func roleNames(s *configs.Settings) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Models)),
		func(role string) bool { return s.Models[role] == "" })
}

// benchCommands returns the commands of dsstar bench.
func (a *app) benchCommands() *bench.App {
	return &bench.App{
		Host: a.host, Stderr: a.stderr,
		ExitHelp: exitHelp,
		Check:    func(s *configs.Settings) error { return cmp.Or(checkBudget(s), checkMethod(s)) },
		AgentConfig: func(s *configs.Settings) agent.Config {
			config := agentConfig(s)
			config.Key = a.key()
			return config
		},
		Model: a.model, ModelLine: a.modelLine, NewProgress: a.newProgress, Agree: a.agree,
	}
}

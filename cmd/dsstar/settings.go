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
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
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
	for _, entry := range s.AllowRead {
		if isAddress(entry) {
			s.AllowDatabases = append(s.AllowDatabases, entry)
		}
	}
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

const replayPrefix = configs.ReplayPrefix

// models opens the models of a job, and names the main one.
func (a *app) models(j *job) (err error) {
	if j.model, err = a.model(j.settings, j.progress.Retrying); err == nil {
		j.progress.Say("model    %s", a.modelLine(j.settings))
	}
	return err
}

// model opens the main model, with those of single roles. A replayed trace serves all roles.
func (a *app) model(s *configs.Settings, retrying func(llm.Request, string)) (llm.Model, error) {
	trace, isTrace := strings.CutPrefix(s.Model, replayPrefix)
	switch {
	case s.Model == "":
		return nil, a.noModel(s)
	case s.Model == demoModel:
		return demoReplies()
	case isTrace:
		return replayed(trace)
	}
	main, err := a.open(s, s.Model, retrying)
	if err != nil {
		return nil, err
	}
	roles := map[string]llm.Model{}
	for _, role := range roleNames(s) {
		if roles[role], err = a.open(s, s.Models[role], retrying); err != nil {
			return nil, fmt.Errorf("model of the %s: %w", role, err)
		}
	}
	return llm.ByRole(main, roles), nil
}

func replayed(trace string) (llm.Model, error) {
	exchanges, err := readTrace(disk.RealPath(trace))
	if err == nil && len(exchanges) == 0 {
		err = usage.New("the trace "+trace+" has no exchange", usage.Again("--model", "replay:RUN/trace.jsonl"))
	}
	return llm.Replay(exchanges, false), err
}

// open opens a model by its name, provider/name. With a base URL the provider is optional.
func (a *app) open(s *configs.Settings, name string, retrying func(llm.Request, string)) (llm.Model, error) {
	e, err := a.endpoint(s, name)
	if err != nil {
		return nil, err
	}
	e.OnRetry = retrying
	return e.Open()
}

// endpoint returns the endpoint of a model, with the settings for its calls.
func (a *app) endpoint(s *configs.Settings, name string) (llm.Endpoint, error) {
	p, model, err := s.Provider(name)
	if err != nil {
		prefix, rest, ok := strings.Cut(name, "/")
		if !ok {
			prefix, rest = "openai", name
		}
		hints := lists.Map(human.Near(prefix, slices.Sorted(maps.Keys(s.Providers))),
			func(p string) usage.Hint { return usage.Again("--model", p+"/"+rest) })
		return llm.Endpoint{}, usage.New(err.Error(), append(hints,
			usage.Again("--base-url", "URL", "--model", name).Note("any OpenAI-compatible server"))...)
	}
	e := llm.Endpoint{Provider: p.Name, Model: model, Temperature: s.Temperature,
		CallTimeout: s.CallTimeout, IdleTimeout: s.IdleTimeout, Retries: s.Retries}
	if e.BaseURL, _, err = p.URL(a.host.Getenv); err != nil {
		return e, usage.New(err.Error(), usage.Shell("dsstar config"))
	}
	if e.Key, e.KeyEnv = p.Key(a.host.Getenv); e.Key == "" && len(p.KeyEnv) > 0 {
		e.KeyEnv = p.KeyEnv[0] // named in the error of Open
	}
	return e, nil
}

// modelLine names the model, its endpoint and the variable that its key comes from.
func (a *app) modelLine(s *configs.Settings) string {
	if strings.HasPrefix(s.Model, replayPrefix) || s.Model == demoModel {
		return s.Model
	}
	e, err := a.endpoint(s, s.Model)
	if err != nil {
		return s.Model // opening it has reported why
	}
	line := s.Model + " at " + configs.Redact(e.BaseURL)
	if e.KeyEnv != "" {
		line += ", key from " + e.KeyEnv
	}
	return line
}

func (a *app) noModel(s *configs.Settings) error {
	e := &usage.Error{Text: "no model is configured"}
	for _, provider := range slices.Sorted(maps.Keys(s.Providers)) {
		for _, env := range s.Providers[provider].KeyEnv {
			if a.host.Getenv(env) != "" {
				e.Hints = append(e.Hints, usage.Shell("export DSSTAR_MODEL="+provider+"/MODEL   # "+env+" is set"))
			}
		}
	}
	if len(e.Hints) == 0 {
		e.Hints = append(e.Hints,
			usage.Shell("export OPENAI_API_KEY=KEY DSSTAR_MODEL=openai/MODEL   # or gemini/ with "+
				"GEMINI_API_KEY, anthropic/ with ANTHROPIC_API_KEY, openrouter/ with OPENROUTER_API_KEY, "+
				"deepseek/ with DEEPSEEK_API_KEY"))
	}
	e.Hints = append(e.Hints,
		usage.Again("--model", "ollama/MODEL").Note("a model on this machine"),
		usage.Again("--base-url", "http://127.0.0.1:8000/v1", "--model",
			"MODEL").Note("any OpenAI-compatible server"),
		usage.Shell("dsstar demo   # the main job with recorded replies, without a model"))
	return e
}

// choice says how the models of a run are named, for its record. That of a replayed trace is not
// recorded.
func (a *app) choice(s *configs.Settings) record.Choice {
	if s.Model == demoModel {
		return record.Choice{Model: demoModel}
	}
	e, err := a.endpoint(s, s.Model)
	if err != nil || strings.HasPrefix(s.Model, replayPrefix) {
		return record.Choice{}
	}
	roles := maps.Clone(s.Models)
	maps.DeleteFunc(roles, func(_, name string) bool { return name == "" })
	return record.Choice{Model: s.Model, Roles: roles, Endpoint: configs.Redact(e.BaseURL)}
}

// recall has a job asked with the models of an earlier run, unless a flag or variable names others.
// The run's notebook may come from a stranger: the endpoint is that of the user's own settings, and
// must be the recorded one.
func (a *app) recall(j *job, t *record.Trajectory) error {
	c, s := t.Choice, j.settings
	if c.Model == "" || c.Model == demoModel || s.Given("model") {
		return nil
	}
	e, err := a.endpoint(s, c.Model)
	if err == nil && configs.Redact(e.BaseURL) == c.Endpoint && s.Recall(c.Model, c.Roles) {
		return nil
	}
	if s.Model != "" {
		return nil
	}
	return usage.New(fmt.Sprintf("no model is configured; the run was last asked with %s at %s, which your "+
		"settings do not name", ui.Printable(c.Model), ui.Printable(c.Endpoint)),
		usage.Again("--base-url", c.Endpoint, "--model", c.Model).Note("if the notebook is yours"))
}

// recallDemo has a run of the demo that asks nothing else go on with the recorded replies, unless a
// flag or variable names a model.
func (a *app) recallDemo(j *job, t *record.Trajectory) {
	s := j.settings
	if t.Choice.Model == demoModel && t.Task.Question == strings.TrimSpace(demoQuestion) &&
		t.Earlier() == 0 && len(t.Edits()) == 0 && !s.Given("model") {
		s.Model = demoModel
	}
	if s.Model == demoModel {
		a.host.Managed, j.shown = true, true
	}
}

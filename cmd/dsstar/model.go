package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

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

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
)

const replayPrefix = configs.ReplayPrefix

// models opens the models of a job: the main one and those of single roles. A replayed trace
// serves all roles.
func (a *app) models(j *job) (err error) {
	s := j.settings
	if s.Model == demoModel {
		j.model, err = demoReplies()
		return err
	}
	if path, ok := strings.CutPrefix(s.Model, replayPrefix); ok {
		j.model, err = replayed(path)
		return err
	}
	if j.model, err = a.model(s, j.progress.Retrying); err != nil {
		return err
	}
	return nil
}

// replayed returns the model of a trace.
func replayed(trace string) (llm.Model, error) {
	exchanges, err := readTrace(disk.RealPath(trace))
	if err == nil && len(exchanges) == 0 {
		err = usage.New("the trace "+trace+" has no exchange", usage.Again("--model", "replay:RUN/trace.jsonl"))
	}
	return llm.Replay(exchanges, false), err
}

// model returns the main model, with the models of single roles.
func (a *app) model(s *configs.Settings, retrying func(llm.Request, string)) (llm.Model, error) {
	if s.Model == "" {
		return nil, a.noModel(s)
	}
	def, err := a.open(s, s.Model, retrying)
	if err != nil {
		return nil, err
	}
	roles := map[string]llm.Model{}
	for role, name := range s.Models {
		if name == "" {
			continue
		}
		if roles[role], err = a.open(s, name, retrying); err != nil {
			return nil, fmt.Errorf("model of the %s: %w", role, err)
		}
	}
	return llm.ByRole(def, roles), nil
}

// open opens a model by its name, provider/name. With a base URL the provider is optional.
func (a *app) open(s *configs.Settings, name string, retrying func(llm.Request, string)) (llm.Model, error) {
	e, err := a.callable(s, name, retrying)
	if err != nil {
		return nil, err
	}
	return e.Open()
}

// callable returns the endpoint of a model with the settings for its calls.
func (a *app) callable(s *configs.Settings, name string,
	retrying func(llm.Request, string)) (llm.Endpoint, error) {
	e, err := a.endpoint(s, name)
	e.Temperature = s.Temperature
	e.CallTimeout, e.IdleTimeout, e.Retries, e.OnRetry = s.CallTimeout, s.IdleTimeout, s.Retries, retrying
	return e, err
}

func (a *app) endpoint(s *configs.Settings, name string) (llm.Endpoint, error) {
	p, model, err := s.Provider(name)
	if err != nil {
		var hints []usage.Hint
		prefix, rest, ok := strings.Cut(name, "/")
		if !ok {
			prefix, rest = "openai", name
		}
		for _, p := range near(prefix, slices.Sorted(maps.Keys(s.Providers))) {
			hints = append(hints, usage.Again("--model", p+"/"+rest))
		}
		return llm.Endpoint{}, usage.New(err.Error(), append(hints,
			usage.Again("--base-url", "URL", "--model", name).Note("any OpenAI-compatible server"))...)
	}
	e := llm.Endpoint{Provider: p.Name, Model: model, Schema: p.Schema}
	var from string
	if e.BaseURL, from, err = p.URL(a.host.Getenv); err != nil {
		return e, usage.New(err.Error(), usage.Shell("dsstar config"))
	}
	if from != "" {
		e.Schema = nil // another server
	}
	if e.Key, e.KeyEnv = p.Key(a.host.Getenv); e.Key == "" && len(p.KeyEnv) > 0 {
		e.KeyEnv = p.KeyEnv[0] // named in the error of Open
	}
	if p.Name == "openai" && s.BaseURL == "" {
		e.Header = map[string]string{}
		for header, env := range map[string]string{"OpenAI-Organization": "OPENAI_ORG_ID",
			"OpenAI-Project": "OPENAI_PROJECT_ID"} {
			if value := a.host.Getenv(env); value != "" {
				e.Header[header] = value
			}
		}
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
	line := s.Model
	line += " at " + configs.Redact(e.BaseURL)
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
				e.Hints = append(e.Hints,
					usage.Shell("export DSSTAR_MODEL="+provider+"/MODEL   # "+env+" is set"))
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

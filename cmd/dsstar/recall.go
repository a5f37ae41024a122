package main

import (
	"fmt"
	"strings"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

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
	c := record.Choice{Model: s.Model, Roles: map[string]string{}, Endpoint: configs.Redact(e.BaseURL)}
	for role, name := range s.Models {
		if name != "" {
			c.Roles[role] = name
		}
	}
	return c
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

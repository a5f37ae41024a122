package configs

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"dsstar/notebook/lists"
)

// A RelaxedError reports a project file that lets cells do more, raises what a run may spend,
// weakens "verified", or redirects questions, keys or results. A project file may have come with
// the data, so it can only tighten these settings. A key that the environment or a flag also sets
// is not an error.
type RelaxedError struct {
	File  string
	Key   string // for instance allow_net, providers.openai.base_url
	Value string // in the form of a flag
	What  string // what a project file cannot do, for the message
}

func (e *RelaxedError) Error() string {
	return fmt.Sprintf("%s: %s is %s, but a project's file may come from a stranger and cannot %s",
		e.File, e.Key, e.Value, e.What)
}

// cannot says, by the tag project of a setting, what a project file cannot do with it; "": it may do
// anything.
var cannot = map[string]string{
	"free":     "",
	"cells":    "let cells do more", // also what runs outside of the sandbox
	"budget":   "raise what you have set",
	"spending": "raise what a run may use", // not even above the defaults
	"proof":    "make \"verified\" mean less",
	"mask":     "show a model what you mask",
	"learn":    "have answers kept with the data",
	"prices":   "say what you pay",
	"address":  "say where your data and keys are sent",
	"folder":   "have results written outside its folder",
	"model":    "send your data to a provider that you did not choose",
	"replay":   "answer from a recording", // what a model may be, too
}

// checkProject returns a [RelaxedError] for the first key that the project file relaxes. weaker are
// the settings of the layers below the file.
func (s *Settings) checkProject(weaker layer) error {
	was, err := decode(weaker)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(s.won)) {
		set := s.won[key]
		if set.Source != s.project || reflect.DeepEqual(set.Value, weaker[key].Value) {
			continue
		}
		f, _ := fieldOf(key)
		text, class, relaxed := asFlag(set.Value), f.class, false
		switch class {
		case "free":
		case "prices":
			relaxed = true
		case "address":
			relaxed = text != ""
		case "folder":
			relaxed = text != "" && !filepath.IsLocal(text)
		case "model":
			class = s.misleads(text, weaker)
			relaxed = class != ""
		default:
			relaxed = f.relaxes(f.of(was), f.of(s)) && (class != "budget" || weaker[key].Source != defaultSource)
		}
		if relaxed {
			return &RelaxedError{s.project, set.Key, text, cannot[class]}
		}
	}
	return nil
}

// Names of recorded replies, used in place of a model: ReplayPrefix followed by the path of a
// trace, or DemoModel.
const (
	ReplayPrefix = "replay:"
	DemoModel    = "demo"
)

// misleads returns the rule that a model breaks which a stranger has chosen; "" if it breaks none. more
// has settings that the stranger's overrides.
func (s *Settings) misleads(model string, more layer) string {
	if strings.HasPrefix(model, ReplayPrefix) || model == DemoModel {
		return "replay"
	}
	provider := func(model string) string {
		name, _, _ := strings.Cut(model, "/")
		return strings.ToLower(name)
	}
	var chosen []string // the providers that settings outside the project's file name
	for _, l := range []layer{s.won, more} {
		for key, set := range l {
			name := asFlag(set.Value)
			if f, _ := fieldOf(key); f.class == "model" && set.Source != s.project && name != "" {
				chosen = append(chosen, provider(name))
			}
		}
	}
	if model != "" && s.BaseURL == "" && len(chosen) > 0 && !slices.Contains(chosen, provider(model)) {
		return "model"
	}
	return ""
}

// Recall takes the models that a run has asked, the main one and those of roles, and reports whether it
// does. The notebook of the run may come from a stranger: like a project's file it cannot name a
// recording, or a provider that the user did not choose.
func (s *Settings) Recall(model string, roles map[string]string) bool {
	for _, name := range append(slices.Collect(maps.Values(roles)), model) {
		if s.misleads(name, nil) != "" {
			return false
		}
	}
	s.Model = model
	for role, name := range roles {
		if _, known := s.Models[role]; known && !s.Given("models."+role) {
			s.Models[role] = name
		}
	}
	return true
}

// tiers ranks the values of the setting sandbox by strength.
var tiers = map[string]int{"off": 0, "external": 1, "builtin": 2, "auto": 2, "full": 3}

// relaxes reports whether a value of a setting does more than another one before.
func (f field) relaxes(was, is reflect.Value) bool {
	switch {
	case f.key == "sandbox":
		return tiers[is.String()] < tiers[was.String()]
	case f.class == "mask": // it may grow
		was, is = is, was
	}
	switch is.Kind() {
	case reflect.Bool, reflect.String:
		return is.Interface() != defaults()[f.key].Value
	case reflect.Slice:
		return slices.ContainsFunc(is.Interface().([]string), func(one string) bool {
			return !slices.Contains(was.Interface().([]string), one)
		})
	}
	before, now := number(was), number(is)
	switch {
	case f.class == "spending" && is.Kind() == reflect.Int: // 0 means none, else unlimited
		return now > before
	case f.class == "cells": // of max_memory 0 depends on the machine
		return now == 0 || before == 0 || now > before
	}
	return before != 0 && (now == 0 || now > before)
}

// asFlag formats a value of a file as a flag takes it, with logins and keys hidden.
func asFlag(value any) string {
	if list, ok := value.([]any); ok {
		text := func(item any) string { return fmt.Sprint(item) }
		return strings.Join(lists.Map(list, text), ", ")
	}
	return fmt.Sprint(redact(value))
}

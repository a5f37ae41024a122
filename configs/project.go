package configs

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// sends holds the last parts of the keys that decide where requests and API keys are sent.
var sends = []string{"base_url", "base_url_env", "host_env", "api_key_env", "key_env"}

// cannot says, by the tag project of a setting, what a project file cannot do with it. It may set
// those of budget that the user has not set, and those without a text here; see also redirects.
var cannot = map[string]string{
	"cells":    "let cells do more", // also what runs outside of the sandbox
	"budget":   "raise what you have set",
	"spending": "raise what a run may use", // not even above the defaults
	"proof":    "make \"verified\" mean less",
	"include":  "take in files that are skipped",
	"mask":     "show a model what you mask",
	"learn":    "have answers kept with the data",
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
		if set.source != s.project || reflect.DeepEqual(set.value, weaker[key].value) {
			continue
		}
		f, _ := fieldOf(key)
		class := f.Tag.Get("project")
		free := cannot[class] == "" || class == "budget" && weaker[key].source == defaultSource
		if !free && relaxes(key, class, f.of(was), f.of(s)) {
			return &RelaxedError{s.project, display(key), asFlag(set.value), cannot[class]}
		}
		if what := s.redirects(key, set.value, weaker); what != "" {
			return &RelaxedError{s.project, display(key), asFlag(set.value), what}
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

// folders are the keys of folders that are written to. A project file may name some in its own folder.
var folders = []string{"out", "memory"}

// redirects says what a project file must not do with a key that decides where questions, keys and
// results go, or what they cost; "" if the value is allowed. more has settings that the file overrides.
func (s *Settings) redirects(key string, value any, more layer) string {
	part, text := strings.Split(key, separator), asFlag(value)
	switch {
	case part[0] == "prices":
		return "say what you pay"
	case text == "":
		return ""
	case slices.Contains(sends, part[len(part)-1]):
		return "say where your data and keys are sent"
	case slices.Contains(folders, key) && !filepath.IsLocal(text):
		return "have results written outside its folder"
	case !namesModel(key):
		return ""
	case strings.HasPrefix(text, ReplayPrefix) || text == DemoModel:
		return "answer from a recording"
	}
	var chosen []string // the providers that settings outside the file name
	for _, l := range []layer{s.won, more} {
		for key, set := range l {
			if model := asFlag(set.value); set.source != s.project && model != "" && namesModel(key) {
				chosen = append(chosen, provider(model))
			}
		}
	}
	if s.BaseURL == "" && len(chosen) > 0 && !slices.Contains(chosen, provider(text)) {
		return "send your data to a provider that you did not choose"
	}
	return ""
}

func namesModel(key string) bool {
	return key == "model" || strings.HasPrefix(key, "models"+separator)
}

func provider(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return strings.ToLower(name)
}

// tiers ranks the values of the setting sandbox by strength.
var tiers = map[string]int{"off": 0, "external": 1, "builtin": 2, "auto": 2, "full": 3}

// relaxes reports whether a value of a key does more than another one before.
func relaxes(key, class string, was, is reflect.Value) bool {
	switch key {
	case "sandbox":
		return tiers[is.String()] < tiers[was.String()]
	case "method::verifier_input":
		return is.String() == "query-plan"
	case "method::second", "method::readings":
		return !is.Bool()
	case "mask": // it may grow
		was, is = is, was
	}
	switch is.Kind() {
	case reflect.Bool:
		return is.Bool()
	case reflect.Slice:
		return slices.ContainsFunc(is.Interface().([]string), func(one string) bool {
			return !slices.Contains(was.Interface().([]string), one)
		})
	case reflect.String:
		return is.String() != ""
	}
	before, now := number(was), number(is)
	switch {
	case class == "spending" && is.Kind() == reflect.Int: // 0 means none, else unlimited
		return now > before
	case class == "cells": // of max_memory 0 depends on the machine
		return now == 0 || before == 0 || now > before
	}
	return before != 0 && (now == 0 || now > before)
}

// asFlag formats a value of a file as a flag takes it, with logins and keys hidden.
func asFlag(value any) string {
	if list, ok := value.([]any); ok {
		var items []string
		for _, item := range list {
			items = append(items, fmt.Sprint(item))
		}
		return strings.Join(items, ", ")
	}
	return fmt.Sprint(redact(value))
}

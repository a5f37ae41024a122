package configs

import (
	"cmp"
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

// checkProject returns a [RelaxedError] for the first key that the project file relaxes. won holds
// the winning settings of all layers, weaker those of the layers below the file; is is won decoded.
func checkProject(file string, won, weaker map[string]setting, is *Settings) error {
	isOfFile := func(s setting) bool { return s.source == file }
	if !slices.ContainsFunc(slices.Collect(maps.Values(won)), isOfFile) {
		return nil
	}
	was := &Settings{}
	if _, err := decode(weaker, was, true); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(won)) {
		set := won[key]
		if set.source != file || reflect.DeepEqual(set.value, weaker[key].value) {
			continue
		}
		f := fieldOf(display(key))
		class := f.Tag.Get("project")
		free := cannot[class] == "" || class == "budget" && weaker[key].source == defaultSource
		if !free && relaxes(display(key), class, f.of(was).Interface(), f.of(is).Interface()) {
			return &RelaxedError{file, display(key), asFlag(set.value), cannot[class]}
		}
		if what := redirects(key, set.value, is, chosenProviders(file, weaker, won)); what != "" {
			return &RelaxedError{file, display(key), asFlag(set.value), what}
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
// results go, or what they cost; "" if the value is allowed. chosen are the user's providers.
func redirects(key string, value any, is *Settings, chosen []string) string {
	part := strings.Split(key, separator)
	text := asFlag(value)
	switch {
	case part[0] == "prices":
		return "say what you pay"
	case text == "":
		return ""
	case slices.Contains(sends, part[len(part)-1]):
		return "say where your data and keys are sent"
	case slices.Contains(folders, key) && !filepath.IsLocal(text):
		return "have results written outside its folder"
	case !namesModel(part):
		return ""
	case strings.HasPrefix(text, ReplayPrefix) || text == DemoModel:
		return "answer from a recording"
	case is.BaseURL == "" && len(chosen) > 0 && !slices.Contains(chosen, provider(text)):
		return "send your data to a provider that you did not choose"
	}
	return ""
}

func namesModel(part []string) bool {
	return part[0] == "model" || part[0] == "models"
}

// chosenProviders returns the providers of the models that settings outside the file name.
func chosenProviders(file string, all ...map[string]setting) (providers []string) {
	for _, layer := range all {
		for key, set := range layer {
			model := asFlag(set.value)
			if set.source != file && model != "" && namesModel(strings.Split(key, separator)) {
				providers = append(providers, provider(model))
			}
		}
	}
	return providers
}

func provider(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return strings.ToLower(name)
}

// tiers ranks the values of the setting sandbox by strength.
var tiers = map[string]int{"off": 0, "external": 1, "builtin": 2, "auto": 2, "full": 3}

// relaxes reports whether a value of a key does more than the one before.
func relaxes(key, class string, was, is any) bool {
	switch key {
	case "sandbox":
		return tiers[is.(string)] < tiers[was.(string)]
	case "method.verifier_input":
		return is != was && is == "query-plan"
	case "method.second", "method.readings":
		return was.(bool) && !is.(bool)
	case "mask": // it may grow
		was, is = is, was
	case "max_memory": // 0 depends on the machine
		return is != was && (is == Bytes(0) || was == Bytes(0) || is.(Bytes) > was.(Bytes))
	case "jobs":
		return cmp.Or(is.(int), 4) > cmp.Or(was.(int), 4) // 0: at most 4
	}
	switch is := is.(type) {
	case bool:
		return is && !was.(bool)
	case []string:
		return slices.ContainsFunc(is, func(one string) bool {
			return !slices.Contains(was.([]string), one)
		})
	case string:
		return is != was && is != ""
	}
	before, now := number(reflect.ValueOf(was)), number(reflect.ValueOf(is))
	if _, count := is.(int); count && class == "spending" { // 0 means none
		return now > before
	}
	return before != 0 && (now == 0 || now > before) // 0 means unlimited
}

// asFlag formats a value of a file as a flag takes it, with logins and keys hidden.
func asFlag(value any) string {
	if list, ok := value.([]any); ok {
		var items []string
		for _, item := range list {
			items = append(items, fmt.Sprint(item))
		}
		return strings.Join(items, ",")
	}
	return fmt.Sprint(redact(value))
}

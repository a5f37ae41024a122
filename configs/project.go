package configs

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
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

// confinement holds the keys that limit what cells may do: those of the sandbox, and those that
// choose what runs outside it.
var confinement = map[string]func(s *Settings) any{
	"sandbox":               func(s *Settings) any { return tier(s.Sandbox) },
	"allow_net":             func(s *Settings) any { return s.AllowNet },
	"allow_multiprocessing": func(s *Settings) any { return s.AllowMultiprocessing },
	"allow_gpu":             func(s *Settings) any { return s.AllowGPU },
	"allow_read":            func(s *Settings) any { return s.AllowRead },
	"allow_write":           func(s *Settings) any { return s.AllowWrite },
	"allow_env":             func(s *Settings) any { return s.AllowEnv },
	"max_memory":            func(s *Settings) any { return s.MaxMemory },
	"max_processes":         func(s *Settings) any { return s.MaxProcesses },
	"max_file":              func(s *Settings) any { return int(s.MaxFile) },
	"max_folder":            func(s *Settings) any { return int(s.MaxFolder) },
	// dsstar itself runs it, to check its packages
	"python": func(s *Settings) any { return s.Python },
	// it may name a running kernel
	"kernel": func(s *Settings) any { return s.Kernel },
	"server": func(s *Settings) any { return s.Server },
}

// budgets holds limits that a project file cannot raise if the user has set them. Without a
// user's choice, the file may set them.
var budgets = map[string]func(s *Settings) any{
	"max_cost":          func(s *Settings) any { return s.MaxCost },
	"max_calls":         func(s *Settings) any { return s.MaxCalls },
	"max_time":          func(s *Settings) any { return s.MaxTime },
	"max_output_tokens": func(s *Settings) any { return s.MaxOutputTokens },
	"cell_timeout":      func(s *Settings) any { return s.CellTimeout },
	"start_timeout":     func(s *Settings) any { return s.StartTimeout },
	"call_timeout":      func(s *Settings) any { return s.CallTimeout },
	"idle_timeout":      func(s *Settings) any { return s.IdleTimeout },
}

// spending holds the settings that a run's tokens, requests and processes grow with. A project
// file cannot raise them, not even above their defaults.
var spending = map[string]func(s *Settings) any{
	"max_rounds":        func(s *Settings) any { return count(s.MaxRounds) },
	"debug_tries":       func(s *Settings) any { return count(s.DebugTries) },
	"retries":           func(s *Settings) any { return count(s.Retries) },
	"top_k":             func(s *Settings) any { return count(s.TopK) },
	"ask_above_usd":     func(s *Settings) any { return s.AskAboveUSD },
	"max_files":         func(s *Settings) any { return count(s.MaxFiles) },
	"max_download":      func(s *Settings) any { return int(s.MaxDownload) },
	"result_chars":      func(s *Settings) any { return count(s.ResultChars) },
	"description_chars": func(s *Settings) any { return count(s.DescriptionChars) },
	"context_chars":     func(s *Settings) any { return count(s.ContextChars) },
	"jobs":              func(s *Settings) any { return count(cmp.Or(s.Jobs, 4)) }, // 0: at most 4
}

// checks holds the parts of the method that an answer must pass. A project file cannot switch
// them off.
var checks = map[string]func(s *Settings) any{
	"method.paper":          func(s *Settings) any { return s.Method.Paper }, // it has none of these checks
	"method.verifier_input": func(s *Settings) any { return s.Method.VerifierInput == "query-plan" },
	"method.second":         func(s *Settings) any { return !s.Method.Second },
	"method.readings":       func(s *Settings) any { return !s.Method.Readings },
}

// A class holds keys that a project file can only tighten.
type class struct {
	keys    map[string]func(s *Settings) any
	what    string // what a project file cannot do, for the message
	setOnly bool   // the class applies only to keys that the user has set
}

var classes = []class{
	{confinement, "let cells do more", false},
	{budgets, "raise what you have set", true},
	{spending, "raise what a run may use", false},
	{checks, "make \"verified\" mean less", false},
	{map[string]func(s *Settings) any{"include": func(s *Settings) any { return s.Include }},
		"take in files that are skipped", false},
	{map[string]func(s *Settings) any{"mask": func(s *Settings) any { return kept(s.Mask) }},
		"show a model what you mask", false},
	{map[string]func(s *Settings) any{"cache": func(s *Settings) any { return s.Cache }},
		"have descriptions of your data kept", false},
	{map[string]func(s *Settings) any{"learn": func(s *Settings) any { return s.Learn }},
		"have answers kept with the data", false},
}

// checkProject returns a [RelaxedError] for the first key that the project file relaxes. won holds
// the winning settings of all layers, weaker those of the layers below the file; is is won decoded.
func checkProject(file string, won, weaker map[string]setting, is *Settings) error {
	was := &Settings{}
	if err := decodeAll(weaker, was); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(won)) {
		set := won[key]
		if set.source != file || reflect.DeepEqual(set.value, weaker[key].value) {
			continue
		}
		for _, c := range classes {
			of := c.keys[display(key)]
			if of != nil && !(c.setOnly && weaker[key].source == defaultSource) && relaxes(of(was), of(is)) {
				return &RelaxedError{file, display(key), asFlag(set.value), c.what}
			}
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
	return part[0] == "model" || part[0] == "models" || part[0] == "embedding_model"
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

// A count is a limit for which 0 means none, not unlimited.
type count int

// A kept list may grow, but must keep what it has.
type kept []string

// A tier is a value of the setting sandbox. tiers ranks them by strength.
type tier string

var tiers = map[tier]int{"off": 0, "external": 1, "builtin": 2, "auto": 2, "full": 3}

// relaxes reports whether a value lets cells do more than the one before.
func relaxes(was, is any) bool {
	switch is := is.(type) {
	case bool:
		return is && !was.(bool)
	case tier:
		return tiers[is] < tiers[was.(tier)]
	case count:
		return is > was.(count)
	case int:
		return raises(was.(int), is)
	case float64:
		return raises(was.(float64), is)
	case time.Duration:
		return raises(was.(time.Duration), is)
	case Bytes: // 0 depends on the machine
		return is != was && (is == 0 || was == Bytes(0) || is > was.(Bytes))
	case kept:
		return relaxes([]string(is), []string(was.(kept)))
	case []string:
		return slices.ContainsFunc(is, func(one string) bool {
			return !slices.Contains(was.([]string), one)
		})
	}
	return is != was && is != ""
}

// raises is relaxes for a limit, where 0 means unlimited.
func raises[T int | float64 | time.Duration](was, is T) bool {
	return was != 0 && (is == 0 || is > was)
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

package configs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A RelaxedError is a project file that lets cells do more than the settings do without it, raises what the user spends
// at most, or says where questions and keys are sent. Such a file may have come with the data: what it says of the sandbox counts where it makes that
// tighter. It is none where a variable of the environment or a flag sets the key, too.
type RelaxedError struct {
	File  string
	Key   string // for instance allow_net, providers.openai.base_url
	Value string // as a flag takes it
	What  string // it cannot do
}

func (e *RelaxedError) Error() string {
	return fmt.Sprintf("%s: %s: is %s, and a project's file, which may be a stranger's, cannot %s", e.File, e.Key, e.Value, e.What)
}

// sends are the keys, or last parts of them, that say where requests and the keys of models go.
var sends = []string{"base_url", "base_url_env", "host_env", "api_key_env", "key_env"}

// confinement are the keys that say what cells may do: those of the sandbox, and what runs out of it.
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
	"python":                func(s *Settings) any { return s.Python }, // dsstar asks it itself what it has
	"kernel":                func(s *Settings) any { return s.Kernel }, // it may be one that runs already
	"server":                func(s *Settings) any { return s.Server },
}

// budgets are the keys that say how much is spent: those of them that the user has set, a project's file cannot raise.
var budgets = map[string]func(s *Settings) any{
	"max_cost":     func(s *Settings) any { return s.MaxCost },
	"max_calls":    func(s *Settings) any { return s.MaxCalls },
	"max_time":     func(s *Settings) any { return s.MaxTime },
	"cell_timeout": func(s *Settings) any { return s.CellTimeout },
	asks:           func(s *Settings) any { return s.AskAboveTokens },
}

// asks is a budget that has a limit before the user sets one.
const asks = "ask_above_tokens"

// checkProject refuses what the project file relaxes. won are the settings of all layers, weaker those of the layers
// below the file.
func checkProject(file string, won, weaker map[string]setting, is *Settings) error {
	was := &Settings{}
	if err := decodeAll(weaker, was); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(won)) {
		set, part := won[key], strings.Split(key, separator)
		if set.source != file {
			continue
		}
		if of := confinement[key]; of != nil && relaxes(of(was), of(is)) {
			return &RelaxedError{file, key, asFlag(set.value), "let cells do more"}
		}
		if of := budgets[key]; of != nil && (key == asks || weaker[key].source != defaultSource) && relaxes(of(was), of(is)) {
			return &RelaxedError{file, key, asFlag(set.value), "raise what you have set"}
		}
		if slices.Contains(sends, part[len(part)-1]) && asFlag(set.value) != "" && !reflect.DeepEqual(set.value, weaker[key].value) {
			return &RelaxedError{file, display(key), asFlag(set.value), "say where your data and keys are sent"}
		}
	}
	return nil
}

// A tier is a value of sandbox, and tiers how much each holds.
type tier string

var tiers = map[tier]int{"off": 0, "external": 1, "builtin": 2, "auto": 2, "full": 3}

// relaxes reports whether a value lets cells do more than the one before.
func relaxes(was, is any) bool {
	switch is := is.(type) {
	case bool:
		return is && !was.(bool)
	case tier:
		return tiers[is] < tiers[was.(tier)]
	case int:
		return raises(was.(int), is)
	case float64:
		return raises(was.(float64), is)
	case time.Duration:
		return raises(was.(time.Duration), is)
	case Bytes: // 0 depends on the machine
		return is != was && (is == 0 || was == Bytes(0) || is > was.(Bytes))
	case []string:
		return slices.ContainsFunc(is, func(one string) bool { return !slices.Contains(was.([]string), one) })
	}
	return is != was && is != ""
}

// raises is relaxes for a limit, of which 0 is none.
func raises[T int | float64 | time.Duration](was, is T) bool {
	return was != 0 && (is == 0 || is > was)
}

// asFlag is a value of a file as a flag takes it.
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

// Package configs holds the settings of dsstar and their defaults, and loads them. default.yaml
// documents every key. The package also embeds the lock files of the Python environment.
//
// Only cmd/dsstar reads settings, with [Load], and hands each package what it needs. An API key is
// never a setting, only the name of the variable that holds it.
package configs

import (
	"fmt"
	"strings"
	"time"
)

// Settings are the effective values; default.yaml says what each one means. The tag range is the
// least and the largest value, and project what a project file may do: see cannot.
type Settings struct {
	Model string `mapstructure:"model" project:"redirects"`
	// by role; "" is Model
	Models          map[string]string `mapstructure:"models" project:"redirects"`
	BaseURL         string            `mapstructure:"base_url" project:"redirects"`
	APIKeyEnv       string            `mapstructure:"api_key_env" project:"redirects"`
	Context         int               `mapstructure:"context" project:"free"` // tokens; 0: unknown
	Temperature     *float64          `mapstructure:"temperature" project:"free"`
	MaxOutputTokens int               `mapstructure:"max_output_tokens" range:"0 100000000" project:"budget"`
	CallTimeout     time.Duration     `mapstructure:"call_timeout" project:"budget"`
	IdleTimeout     time.Duration     `mapstructure:"idle_timeout" project:"budget"`
	Retries         int               `mapstructure:"retries" range:"0 100" project:"spending"`
	// by name, in lower case
	Providers map[string]Provider `mapstructure:"providers" project:"redirects"`

	Prices   map[string]Price `mapstructure:"prices" project:"redirects"` // by model, in lower case
	MaxCost  float64          `mapstructure:"max_cost" project:"budget"`
	MaxCalls int              `mapstructure:"max_calls" range:"0 1000000000" project:"budget"`
	MaxTime  time.Duration    `mapstructure:"max_time" project:"budget"`
	Method   Method           `mapstructure:"method"`

	MaxRounds        int `mapstructure:"max_rounds" range:"1 1000" project:"spending"`
	DebugTries       int `mapstructure:"debug_tries" range:"0 100" project:"spending"`
	TopK             int `mapstructure:"top_k" range:"1 100000" project:"spending"`
	ResultChars      int `mapstructure:"result_chars" range:"500 10000000" project:"spending"`
	DescriptionChars int `mapstructure:"description_chars" range:"500 10000000" project:"spending"`
	ContextChars     int `mapstructure:"context_chars" range:"2000 100000000" project:"spending"`
	MaxFiles         int `mapstructure:"max_files" range:"1 1000000" project:"spending"`

	Memory string `mapstructure:"memory" project:"redirects"` // "auto", "off" or a folder
	Learn  bool   `mapstructure:"learn" project:"learn"`

	Include     []string `mapstructure:"include" project:"include"`
	Mask        []string `mapstructure:"mask" project:"mask"`
	MaxDownload Bytes    `mapstructure:"max_download" project:"spending"`

	CellTimeout  time.Duration `mapstructure:"cell_timeout" project:"budget"`
	StartTimeout time.Duration `mapstructure:"start_timeout" project:"budget"`
	Python       string        `mapstructure:"python" project:"cells"`
	Kernel       string        `mapstructure:"kernel" project:"cells"`
	Server       string        `mapstructure:"server" project:"cells"`
	Jobs         int           `mapstructure:"jobs" range:"0 64" project:"spending"`
	Rollback     Rollback      `mapstructure:"rollback" project:"free"`

	// "auto", "full", "builtin", "external" or "off"
	Sandbox              string   `mapstructure:"sandbox" project:"cells"`
	AllowNet             bool     `mapstructure:"allow_net" project:"cells"`
	AllowRead            []string `mapstructure:"allow_read" project:"cells"`
	AllowWrite           []string `mapstructure:"allow_write" project:"cells"`
	AllowEnv             []string `mapstructure:"allow_env" project:"cells"`
	AllowGPU             bool     `mapstructure:"allow_gpu" project:"cells"`
	AllowMultiprocessing bool     `mapstructure:"allow_multiprocessing" project:"cells"`
	MaxMemory            Bytes    `mapstructure:"max_memory" project:"cells"` // 0: see default.yaml
	MaxProcesses         int      `mapstructure:"max_processes" range:"16 1000000" project:"cells"`
	MaxFile              Bytes    `mapstructure:"max_file" project:"cells"`
	MaxFolder            Bytes    `mapstructure:"max_folder" project:"cells"`

	Out string `mapstructure:"out" project:"redirects"`

	// UserFile is the path of the user's own file, which need not exist; "" if there is no
	// configuration folder.
	UserFile string `mapstructure:"-"`

	// Chosen says which folders, by key, the user has chosen: they come from neither the defaults
	// nor the project file.
	Chosen map[string]bool `mapstructure:"-"`

	// AllowDatabases are the addresses that were given as AllowRead, which then has paths only.
	AllowDatabases []string `mapstructure:"-"`

	// Warnings tell the user about likely mistakes and about choices that others have made.
	Warnings []string `mapstructure:"-"`

	entries []Entry
	chosen  []string // the providers of models that the project file does not name
}

// Bytes is an amount of memory. It is written with its unit: 500MB, 4GB, 4GiB.
type Bytes int64

// A Method says which elements of the loop are on.
type Method struct {
	Paper         bool   `mapstructure:"paper" project:"proof"`
	Analyzer      string `mapstructure:"analyzer" project:"free"` // "profile" or "none"
	Router        bool   `mapstructure:"router" project:"free"`
	VerifierInput string `mapstructure:"verifier_input" project:"proof"` // "full" or "query-plan"
	Second        bool   `mapstructure:"second" project:"proof"`
	Readings      bool   `mapstructure:"readings" project:"proof"`
}

// Sources are the places that settings come from, besides the defaults. Later fields override
// earlier ones. ProjectFile may be somebody else's: see [RelaxedError].
type Sources struct {
	UserFile    string          // need not exist
	ProjectFile string          // need not exist
	Env         []string        // as from os.Environ; DSSTAR_* is read
	Flags       map[string]Flag // by key, for instance max_rounds or models.coder; only those given
}

// A Flag is a setting from the command line.
type Flag struct {
	Name  string // as the user wrote it, for instance --max-rounds
	Value any    // a string is converted to the setting's type
}

// An Entry is one effective setting.
type Entry struct {
	Key    string // for instance models.coder
	Value  any
	Source string // "default", "environment DSSTAR_MODEL", "flag --model" or the path of a file
}

// Text returns the value as a file would have it.
func (e Entry) Text() string {
	switch v := e.Value.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return `""`
		}
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, fmt.Sprint(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(e.Value)
}

// Load returns the effective settings. An error names its source and key; it may be a
// *[RelaxedError].
func Load(from Sources) (*Settings, error) {
	layers, err := from.layers()
	if err != nil {
		return nil, err
	}
	won := overlay(layers)
	s := &Settings{}
	if err := decode(won, s, true); err != nil {
		return nil, err
	}
	s.entries, s.UserFile = entries(won), from.UserFile
	s.chosen = chosenProviders(from.ProjectFile, won)
	s.Chosen = map[string]bool{}
	for _, key := range folders {
		s.Chosen[key] = won[key].source != defaultSource && won[key].source != from.ProjectFile
	}
	s.Warnings = strayVariables(from.Env, won)
	if err := s.validate(won); err != nil {
		return nil, err
	}
	return s, checkProject(from.ProjectFile, won, overlay(layers[:projectLayer]), s)
}

// overlay returns the winning setting for each key. layers are ordered from weakest to strongest.
func overlay(layers []layer) map[string]setting {
	won := map[string]setting{}
	for _, l := range layers {
		for key, set := range l {
			if set.value == nil && key != "temperature" {
				continue // a key without a value leaves the setting alone; only temperature can be null
			}
			won[key] = set
		}
	}
	return won
}

// Explain returns every effective setting and where it comes from, sorted by key.
func (s *Settings) Explain() []Entry { return s.entries }

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

// Settings are the effective values; default.yaml says what each one means.
type Settings struct {
	Model           string              `mapstructure:"model"`
	Models          map[string]string   `mapstructure:"models"` // by role; "" is Model
	BaseURL         string              `mapstructure:"base_url"`
	APIKeyEnv       string              `mapstructure:"api_key_env"`
	EmbeddingModel  string              `mapstructure:"embedding_model"`
	Context         int                 `mapstructure:"context"` // tokens; 0: unknown
	Temperature     *float64            `mapstructure:"temperature"`
	MaxOutputTokens int                 `mapstructure:"max_output_tokens"`
	CallTimeout     time.Duration       `mapstructure:"call_timeout"`
	IdleTimeout     time.Duration       `mapstructure:"idle_timeout"`
	Retries         int                 `mapstructure:"retries"`
	Providers       map[string]Provider `mapstructure:"providers"` // by name, in lower case

	Prices   map[string]Price `mapstructure:"prices"` // by model, in lower case
	MaxCost  float64          `mapstructure:"max_cost"`
	MaxCalls int              `mapstructure:"max_calls"`
	MaxTime  time.Duration    `mapstructure:"max_time"`
	Method   Method           `mapstructure:"method"`

	MaxRounds        int  `mapstructure:"max_rounds"`
	DebugTries       int  `mapstructure:"debug_tries"`
	TopK             int  `mapstructure:"top_k"`
	ResultChars      int  `mapstructure:"result_chars"`
	DescriptionChars int  `mapstructure:"description_chars"`
	ContextChars     int  `mapstructure:"context_chars"`
	MaxFiles         int  `mapstructure:"max_files"`
	Cache            bool `mapstructure:"cache"`

	Memory string `mapstructure:"memory"` // "auto", "off" or a folder
	Learn  bool   `mapstructure:"learn"`

	Include     []string `mapstructure:"include"`
	Mask        []string `mapstructure:"mask"`
	MaxDownload Bytes    `mapstructure:"max_download"`
	AskAboveUSD float64  `mapstructure:"ask_above_usd"` // 0: never asks

	CellTimeout  time.Duration `mapstructure:"cell_timeout"`
	StartTimeout time.Duration `mapstructure:"start_timeout"`
	Python       string        `mapstructure:"python"`
	Kernel       string        `mapstructure:"kernel"`
	Server       string        `mapstructure:"server"`
	Jobs         int           `mapstructure:"jobs"`
	Rollback     Rollback      `mapstructure:"rollback"`

	// "auto", "full", "builtin", "external" or "off"
	Sandbox              string   `mapstructure:"sandbox"`
	AllowNet             bool     `mapstructure:"allow_net"`
	AllowRead            []string `mapstructure:"allow_read"`
	AllowWrite           []string `mapstructure:"allow_write"`
	AllowEnv             []string `mapstructure:"allow_env"`
	AllowGPU             bool     `mapstructure:"allow_gpu"`
	AllowMultiprocessing bool     `mapstructure:"allow_multiprocessing"`
	MaxMemory            Bytes    `mapstructure:"max_memory"` // 0: see default.yaml
	MaxProcesses         int      `mapstructure:"max_processes"`
	MaxFile              Bytes    `mapstructure:"max_file"`
	MaxFolder            Bytes    `mapstructure:"max_folder"`

	Out string `mapstructure:"out"`

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
	project string // path of the project file
}

// Bytes is an amount of memory. It is written with its unit: 500MB, 4GB, 4GiB.
type Bytes int64

// A Method says which elements of the loop are on.
type Method struct {
	Paper         bool   `mapstructure:"paper"`
	Analyzer      string `mapstructure:"analyzer"` // "profile" or "none"
	Router        bool   `mapstructure:"router"`
	VerifierInput string `mapstructure:"verifier_input"` // "full" or "query-plan"
	Second        bool   `mapstructure:"second"`
	Readings      bool   `mapstructure:"readings"`
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
	if err := decodeAll(won, s); err != nil {
		return nil, err
	}
	s.entries, s.UserFile, s.project = entries(won), from.UserFile, from.ProjectFile
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

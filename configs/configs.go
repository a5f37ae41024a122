// Package configs holds the settings of dsstar and their defaults, and loads them. default.yaml
// documents every key. The package also embeds the lock files of the Python environment.
//
// Only cmd/dsstar reads settings, with [Load], and hands each package what it needs. An API key is
// never a setting, only the name of the variable that holds it.
package configs

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"
)

// Settings are the effective values; default.yaml has each one's default and says what it means.
// The tags are all else that is known of a setting: its key; is, what it may be, see fits; project,
// what a project file may do, see cannot; flag, the title under which help lists its flag, or off, if
// that is --no-KEY; and its letter.
type Settings struct {
	Model string `key:"model" project:"model" flag:"Model" letter:"m"`
	// by role; "" is Model
	Models          map[string]string `key:"models" project:"model" flag:"Model"`
	BaseURL         string            `key:"base_url" is:"URL" project:"address" flag:"Model"`
	APIKeyEnv       string            `key:"api_key_env" is:"NAMES" project:"address" flag:"Model"`
	Context         int               `key:"context" is:"0 or at least 2000" project:"free" flag:"Model"`
	Temperature     *float64          `key:"temperature" is:"0 to 2" project:"free"`
	MaxOutputTokens int               `key:"max_output_tokens" is:"at least 0" project:"budget"`
	CallTimeout     time.Duration     `key:"call_timeout" is:"at least 1ms" project:"budget"`
	IdleTimeout     time.Duration     `key:"idle_timeout" is:"at least 1ms" project:"budget"`
	Retries         int               `key:"retries" is:"0 to 100" project:"spending"`
	// by name, in lower case
	Providers map[string]Provider `key:"providers" project:"address"`

	Prices   map[string]Price `key:"prices" project:"prices"` // by model, in lower case
	MaxCost  float64          `key:"max_cost" is:"at least 0" project:"budget" flag:"Limits"`
	MaxCalls int              `key:"max_calls" is:"at least 0" project:"budget" flag:"Limits"`
	MaxTime  time.Duration    `key:"max_time" is:"at least 0s" project:"budget" flag:"Limits"`
	Method   Method           `key:"method"`

	MaxRounds        int `key:"max_rounds" is:"1 to 1000" project:"spending" flag:"Method"`
	DebugTries       int `key:"debug_tries" is:"0 to 100" project:"spending" flag:"Method"`
	TopK             int `key:"top_k" is:"at least 1" project:"spending" flag:"Data"`
	ResultChars      int `key:"result_chars" is:"at least 500" project:"spending"`
	DescriptionChars int `key:"description_chars" is:"at least 500" project:"spending"`
	ContextChars     int `key:"context_chars" is:"at least 2000" project:"spending"`
	MaxFiles         int `key:"max_files" is:"at least 1" project:"spending"`

	Memory string `key:"memory" project:"folder" flag:"Data"` // "auto", "off" or a folder
	Learn  bool   `key:"learn" project:"learn" flag:"Data"`

	Mask        []string `key:"mask" project:"mask" flag:"Data"`
	MaxDownload Bytes    `key:"max_download" project:"spending" flag:"Data"`

	CellTimeout  time.Duration `key:"cell_timeout" is:"at least 1ms" project:"budget" flag:"Limits"`
	StartTimeout time.Duration `key:"start_timeout" is:"at least 1ms" project:"budget"`
	Python       string        `key:"python" project:"cells" flag:"Kernel"`
	Kernel       string        `key:"kernel" project:"cells" flag:"Kernel"`
	Server       string        `key:"server" is:"URL" project:"cells" flag:"Kernel"`
	Jobs         int           `key:"jobs" is:"0 to 64" project:"spending" flag:"Data"`
	Rollback     string        `key:"rollback" is:"auto or replay" project:"free" flag:"Method"`

	Sandbox string `key:"sandbox" is:"auto, full, builtin, external or off" project:"cells" flag:"Sandbox"`

	AllowNet   bool     `key:"allow_net" project:"cells" flag:"Sandbox"`
	AllowRead  []string `key:"allow_read" project:"cells" flag:"Sandbox"`
	AllowWrite []string `key:"allow_write" project:"cells" flag:"Sandbox"`
	AllowEnv   []string `key:"allow_env" is:"NAMES" project:"cells" flag:"Sandbox"`
	AllowGPU   bool     `key:"allow_gpu" project:"cells" flag:"Sandbox"`

	AllowMultiprocessing bool `key:"allow_multiprocessing" project:"cells" flag:"Sandbox"`

	MaxMemory    Bytes `key:"max_memory" is:"0 or at least 256MiB" project:"cells" flag:"Sandbox"`
	MaxProcesses int   `key:"max_processes" is:"at least 16" project:"cells" flag:"Sandbox"`
	MaxFile      Bytes `key:"max_file" project:"cells" flag:"Sandbox"`
	MaxFolder    Bytes `key:"max_folder" project:"cells" flag:"Sandbox"`

	Out string `key:"out" project:"folder"`

	// UserFile is the path of the user's own file, which need not exist; "" if there is no
	// configuration folder.
	UserFile string `key:"-"`

	// AllowDatabases are the addresses that were given as AllowRead, which then has paths only.
	AllowDatabases []string `key:"-"`

	// Warnings are about variables that set nothing.
	Warnings []string `key:"-"`

	won     layer
	project string // the path of the project file
}

// Bytes is an amount of memory. It is written with its unit: 500MB, 4GB, 4GiB.
type Bytes int64

// A Method says which elements of the loop are on.
type Method struct {
	Paper         bool   `key:"paper" project:"proof" flag:"Method"`
	Analyzer      string `key:"analyzer" is:"profile or none" project:"free" flag:"Method"`
	Router        bool   `key:"router" project:"free" off:"Method"`
	VerifierInput string `key:"verifier_input" is:"full or query-plan" project:"proof" flag:"Method"`
	Second        bool   `key:"second" project:"proof" off:"Method"`
	Readings      bool   `key:"readings" project:"proof" off:"Method"`
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
	Key   string `json:"key"` // for instance models.coder
	Value any    `json:"value"`
	// "default", "environment DSSTAR_MODEL", "flag --model" or the path of a file
	Source string `json:"source"`
}

// Text returns the value as a file would have it.
func (e Entry) Text() string {
	_, isList := e.Value.([]any)
	switch text := asFlag(e.Value); {
	case e.Value == nil:
		return "null"
	case isList:
		return "[" + text + "]"
	default:
		return cmp.Or(text, `""`)
	}
}

// Load returns the effective settings. An error names its source and key; it may be a
// *[RelaxedError].
func Load(from Sources) (*Settings, error) {
	won := maps.Clone(defaults())
	user, err := readFile(from.UserFile)
	err = cmp.Or(err, won.add(user))
	weaker := maps.Clone(won)
	project, unread := readFile(from.ProjectFile)
	err = cmp.Or(err, unread, won.add(project))
	env, strays := envLayer(from.Env, won)
	if err = cmp.Or(err, won.add(env), won.add(flagLayer(from.Flags)), won.whole()); err != nil {
		return nil, err
	}
	s, err := decode(won)
	if err != nil {
		return nil, err
	}
	s.won, s.project, s.UserFile, s.Warnings = won, from.ProjectFile, from.UserFile, strays
	if len(project) == 0 {
		return s, nil
	}
	return s, s.checkProject(weaker)
}

// Explain returns every effective setting and where it comes from, sorted by key.
func (s *Settings) Explain() (all []Entry) {
	for _, key := range slices.Sorted(maps.Keys(s.won)) {
		e := s.won[key]
		e.Value = redact(e.Value)
		all = append(all, e)
	}
	return all
}

// Given reports whether a flag or variable sets a key.
func (s *Settings) Given(key string) bool {
	set := s.won[strings.ReplaceAll(key, ".", separator)]
	return set.Value != "" && (strings.HasPrefix(set.Source, flagSource) ||
		strings.HasPrefix(set.Source, envSource))
}

// Chosen reports whether the user has set a key: its value comes neither from the defaults nor from the
// project's file.
func (s *Settings) Chosen(key string) bool {
	return s.won[key].Source != defaultSource && s.won[key].Source != s.project
}

// DefaultYAML is the complete, commented default configuration.
//
//go:embed default.yaml
var DefaultYAML []byte

//go:embed prices.yaml
var pricesYAML []byte

// The locks pin Python packages, with hashes. Those that only tests refer to are left out of programs
// by the linker.
var (
	// PythonLock has the packages available to every cell.
	//go:embed python.txt
	PythonLock []byte

	// TestLock has the Jupyter tools and servers that tests use. It overlaps PythonLock with equal
	// versions, so that the two can be concatenated.
	//go:embed python-test.txt
	TestLock []byte

	// LabLock has JupyterLab, jupyter-collaboration, a browser driver and reviewers' tools.
	//go:embed python-lab.txt
	LabLock []byte

	// OldKernelLock has the last ipykernel 6, with the numpy and pandas of PythonLock.
	//go:embed python-ipykernel6.txt
	OldKernelLock []byte
)

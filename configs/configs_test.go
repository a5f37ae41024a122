package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, from Sources) *Settings {
	t.Helper()
	s, err := Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Settings) source(key string) string {
	for _, e := range s.Explain() {
		if e.Key == key {
			return e.Source
		}
	}
	return "none"
}

func TestDefaults(t *testing.T) {
	s := load(t, Sources{UserFile: "/nowhere/config.yaml", ProjectFile: "/nowhere/dsstar.yaml"})
	if s.MaxRounds != 20 || s.CellTimeout != 5*time.Minute || s.Temperature != nil || s.Out != "dsstar-runs" {
		t.Errorf("defaults: %+v", s)
	}
	want := Provider{
		Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai/",
		KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, BaseURLEnv: []string{}, HostEnv: []string{},
	}
	if diff := cmp.Diff(want, s.Providers["gemini"]); diff != "" {
		t.Error(diff)
	}
	if len(s.Providers) != 6 || len(s.Models) != 9 || len(s.Warnings) != 0 {
		t.Errorf("%d providers, %d roles, warnings %q", len(s.Providers), len(s.Models), s.Warnings)
	}
	for _, e := range s.Explain() {
		if e.Source != "default" {
			t.Errorf("%s comes from %s", e.Key, e.Source)
		}
	}
}

// Each layer, added on top of the weaker ones, wins.
func TestPrecedence(t *testing.T) {
	user := file(t, "config.yaml", "max_rounds: 6\nmodels:\n  coder: a/user\n  planner: a/user\n")
	project := file(t, "dsstar.yaml", "max_rounds: 3\nmodels: {coder: a/project}\n")
	var from Sources
	for _, layer := range []struct {
		source string
		add    func()
		rounds int
		coder  string
	}{
		{"default", func() {}, 20, ""},
		{user, func() { from.UserFile = user }, 6, "a/user"},
		{project, func() { from.ProjectFile = project }, 3, "a/project"},
		{"environment DSSTAR_MAX_ROUNDS", func() {
			from.Env = []string{"DSSTAR_MAX_ROUNDS=4", "DSSTAR_MODELS_CODER=a/env", "DSSTAR_TOP_K="}
		}, 4, "a/env"},
		{"flag --rounds", func() {
			from.Flags = map[string]Flag{"max_rounds": {"--rounds", 5}, "models.coder": {"--coder", "a/flag"}}
		}, 5, "a/flag"},
	} {
		layer.add()
		s := load(t, from)
		if s.MaxRounds != layer.rounds || s.Models["coder"] != layer.coder {
			t.Errorf("%s: max_rounds %d, coder %q", layer.source, s.MaxRounds, s.Models["coder"])
		}
		if got := s.source("max_rounds"); got != layer.source {
			t.Errorf("max_rounds comes from %q, want %q", got, layer.source)
		}
	}
	s := load(t, from)
	if s.Models["planner"] != "a/user" || s.source("models.planner") != user {
		t.Errorf("a table in a stronger file hides its neighbours: planner %q from %s", s.Models["planner"], s.source("models.planner"))
	}
	if s.TopK != 100 {
		t.Error("an empty variable counts as set")
	}
}

func TestConversions(t *testing.T) {
	s := load(t, Sources{
		UserFile: file(t, "c.yaml", "temperature: 1\nproviders: {openai: {key_env: MY_KEY}}\nrollback: off\n"),
		Env:      []string{"DSSTAR_CALL_TIMEOUT=90s", "DSSTAR_RETRIES=0", "DSSTAR_MAX_MEMORY=1.5 GiB"},
		Flags:    map[string]Flag{"cell_timeout": {"--cell-timeout", time.Hour}, "jobs": {"--jobs", "2"}},
	})
	if *s.Temperature != 1 || s.CallTimeout != 90*time.Second || s.Retries != 0 || s.CellTimeout != time.Hour || s.Jobs != 2 {
		t.Errorf("%+v", s)
	}
	if s.Rollback != "off" || s.MaxMemory != 3<<29 {
		t.Errorf("rollback %s, %d bytes", s.Rollback, s.MaxMemory)
	}
	if got := s.Providers["openai"]; !slices.Equal(got.KeyEnv, []string{"MY_KEY"}) || got.BaseURL != "https://api.openai.com/v1" {
		t.Errorf("openai: %+v", got)
	}
	s = load(t, Sources{
		UserFile:    file(t, "c.yaml", "temperature: 0.5\nmax_rounds: 7\n"),
		ProjectFile: file(t, "d.yaml", "temperature: null\nmax_rounds:\nproviders:\n"),
	})
	if s.Temperature != nil || s.MaxRounds != 7 {
		t.Errorf("null: temperature %v, max_rounds %d", s.Temperature, s.MaxRounds)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ yaml, want string }{
		{"max_round: 3", "unknown key max_round; did you mean max_rounds?"},
		{"rounds: 3", "unknown key rounds; did you mean max_rounds?"},
		{"qwertyuiop: 3", "unknown key qwertyuiop"},
		{"models: {codr: a/b}", "unknown key models.codr; did you mean models.coder?"},
		{"providers: {mine: {base_urll: x}}", "unknown key providers.mine.base_urll"},
		{"model: {a: b}", "unknown key model.a"},
		{"max_rounds: many", `max_rounds: is "many", should be a whole number`},
		{"max_rounds: '3'", `max_rounds: is "3", should be a whole number`},
		{"max_rounds: 2.7", "max_rounds: 2.7 is not a whole number"},
		{"max_rounds: [1]", "max_rounds: is [1], should be a whole number"},
		{"max_rounds: 0", "max_rounds: is 0, should be 1 to 1000"},
		{"cell_timeout: 5", "cell_timeout: is 5, should be a duration with its unit: 90s, 5m or 1h30m"},
		{"cell_timeout: soon", `cell_timeout: is "soon", should be a duration`},
		{"providers: {openai: {key_env: 3}}", "providers.openai.key_env: is 3, should be a list"},
		{"cell_timeout: -5m", "cell_timeout: is \"-5m\", should be longer than 0s"},
		{"rollback: maybe", `rollback: is "maybe", should be auto, checkpoint, replay or off`},
		{"max_memory: 4", "max_memory: is 4, should be an amount of memory with its unit: 500MB, 4GB or 4GiB"},
		{"max_memory: -4GB", `max_memory: is "-4GB", should be an amount`},
		{"max_memory: 9999999999T", "should be an amount"},
		{"temperature: hot", `temperature: is "hot", should be a number`},
		{"temperature: 3", "temperature: is 3, should be 0 to 2, or null"},
		{"temperature: .nan", "temperature: is NaN"},
		{"model: 7", "model: is 7, should be text"},
		{"models: a/b", `models: is a table of keys, not "a/b"`},
		{"providers: {mine: http://x}", `providers.mine: is a table of keys, not "http://x"`},
		{"providers: {mine: {key_env: [K]}}", "provider mine has no base_url"},
		{"providers: {mine: {base_url: x}}", `providers.mine.base_url: is "x", should be a URL`},
		{"base_url: localhost", "base_url: "},
		{"api_key_env: sk-1234", "api_key_env: should be the name of an environment variable"},
		{"model: a\nmodel: b", "already defined"},
		{"- a", "cannot unmarshal"},
		{"a: [", "yaml: "},
	} {
		path := file(t, "dsstar.yaml", test.yaml)
		_, err := Load(Sources{ProjectFile: path})
		if err == nil {
			t.Errorf("%q is accepted", test.yaml)
			continue
		}
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v; want %s", test.yaml, err, test.want)
		}
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v: does not name the file", test.yaml, err)
		}
		if strings.Contains(err.Error(), "sk-1234") {
			t.Errorf("a key is shown: %v", err)
		}
	}
	for want, from := range map[string]Sources{
		`environment DSSTAR_MAX_ROUNDS: max_rounds: is "x", should be a whole number`: {Env: []string{"DSSTAR_MAX_ROUNDS=x"}},
		"flag --jobs: jobs: is 65, should be 0 to 64":                                 {Flags: map[string]Flag{"jobs": {"--jobs", 65}}},
		"flag --x: unknown key x":                                                     {Flags: map[string]Flag{"x": {"--x", 1}}},
	} {
		if _, err := Load(from); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	s := load(t, Sources{Env: []string{"DSSTAR_MODLE=a/b", "DSSTAR_TEST_PYTHON=x", "PATH=/bin"}})
	if want := []string{"the environment variable DSSTAR_MODLE is not a setting; did you mean DSSTAR_MODEL?"}; !slices.Equal(s.Warnings, want) {
		t.Errorf("%q, want %q", s.Warnings, want)
	}
}

// Secrets in addresses are neither explained nor in errors.
func TestSecretsInURLs(t *testing.T) {
	const secret = "base_url: https://user:hunter2@example.org/v1\n"
	for _, e := range load(t, Sources{UserFile: file(t, "config.yaml", secret)}).Explain() {
		if text, ok := e.Value.(string); ok && strings.Contains(text, "hunter2") {
			t.Errorf("%s shows a secret", e.Key)
		}
	}
	if _, err := Load(Sources{ProjectFile: file(t, "dsstar.yaml", secret)}); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "xxxxx") {
		t.Error(err)
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"open postgres://u:p@host/db: no":           "open postgres://xxxxx@host/db: no",
		"--data 'mysql+x://u:p%zz@ss@host/db?a=b'":  "--data 'mysql+x://xxxxx@host/db?a=b'",
		"postgres://u:p/w@h/db":                     "postgres://xxxxx@h/db",
		"postgres://u:p#w@h or u://a:p?w@h":         "postgres://xxxxx@h or u://xxxxx@h",
		"postgres://u:/p@s/w@h":                     "postgres://xxxxx@h",
		"postgres://u:p@s/w@h":                      "postgres://xxxxx@h",
		"http://[::1]:8888/lab/@x":                  "http://[::1]:8888/lab/@x",
		"https://ghp_token@github.com/a":            "https://xxxxx@github.com/a",
		"s3://b/k?X-Amz-Signature=ab&x=1&api_key=k": "s3://b/k?X-Amz-Signature=xxxxx&x=1&api_key=xxxxx",
		"http://localhost:8888/?token=abc more":     "http://localhost:8888/?token=xxxxx more",
		"http://localhost:8888/lab/@x ada@host":     "http://localhost:8888/lab/@x ada@host",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Every field of Settings is in default.yaml; that every key of the file has a field is what Load
// checks.
func TestStructAndFileAgree(t *testing.T) {
	keys := map[string]bool{}
	for _, e := range load(t, Sources{}).Explain() {
		if e.Key == "temperature" && e.Text() != "null" || strings.HasSuffix(e.Key, "gemini.key_env") && e.Text() != "[GEMINI_API_KEY, GOOGLE_API_KEY]" {
			t.Errorf("%s is shown as %s", e.Key, e.Text())
		}
		head, _, _ := strings.Cut(e.Key, ".")
		keys[head] = true
	}
	// an empty table has no entries
	keys["prices"] = strings.Contains(string(DefaultYAML), "\nprices: {}\n")
	for f := range reflect.TypeFor[Settings]().Fields() {
		if tag := f.Tag.Get("mapstructure"); f.IsExported() && tag != "-" && !keys[tag] {
			t.Errorf("default.yaml lacks %q (%s)", tag, f.Name)
		}
	}
	for _, field := range fieldsOf(reflect.TypeFor[Provider]()) {
		if !strings.Contains(string(DefaultYAML), "#   "+field+" ") {
			t.Errorf("default.yaml does not explain a provider's %s", field)
		}
	}
}

func TestPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := "prices:\n  OpenAI/gpt-4.1: {input: 2, cached: 0.5, output: 8}\n  ollama/qwen3:\n    input: 0\n    output: 0\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := load(t, Sources{UserFile: file})
	p, ok := s.Price("openai/GPT-4.1")
	if !ok || *p.Input != 2 || *p.Cached != 0.5 || *p.Output != 8 {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := s.Price("ollama/qwen3"); !ok || p.Cached != nil {
		t.Errorf("%+v, %v", p, ok)
	}
	if _, ok := s.Price("openai/gpt-5"); ok {
		t.Error("a price from nowhere")
	}
	for text, want := range map[string]string{
		"prices: {a/b: {inputs: 1}}": "unknown key prices.a/b.inputs",
		"prices: {a/b: {input: x}}":  "prices.a/b.input: is \"x\", should be a number",
		"prices: {a/b: {input: -1}}": "all prices must be 0 or more",
		"prices: {a/b: {output: 1}}": "needs input and output",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(Sources{UserFile: file}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A comment stands above or beside every key, the providers' fields excepted.
func TestEveryKeyIsCommented(t *testing.T) {
	before := ""
	for line := range strings.Lines(string(DefaultYAML)) {
		line = strings.TrimRight(line, "\n")
		key := strings.TrimSpace(line)
		inProviders := strings.HasPrefix(line, "  ") && !strings.HasPrefix(before, "#") && !strings.Contains(line, "#")
		if key != "" && !strings.HasPrefix(key, "#") && !inProviders && !strings.HasPrefix(before, "#") && !strings.Contains(line, "#") {
			t.Errorf("no comment: %s", line)
		}
		before = line
	}
}

func TestProviderNamesIgnoreCase(t *testing.T) {
	s := load(t, Sources{UserFile: file(t, "c.yaml", "providers: {MyCorp.AI: {base_url: 'https://llm.example.org/v1', key_env: Corp_Key}}\nmodel: MyCorp.AI/Some-Model\n")})
	p, name, err := s.Provider(s.Model)
	if err != nil || p.Name != "mycorp.ai" || name != "Some-Model" || !slices.Equal(p.KeyEnv, []string{"Corp_Key"}) {
		t.Errorf("%+v %q %v", p, name, err)
	}
}

func TestProvider(t *testing.T) {
	s := load(t, Sources{})
	if p, name, err := s.Provider("openrouter/meta/llama"); err != nil || p.Name != "openrouter" || name != "meta/llama" {
		t.Errorf("%+v %q %v", p, name, err)
	}
	for model, want := range map[string]string{"openia/x": "did you mean openai?", "gpt-5": "is not provider/name"} {
		if _, _, err := s.Provider(model); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", model, err)
		}
	}
	s = load(t, Sources{Flags: map[string]Flag{"base_url": {"--base-url", "http://127.0.0.1:1/v1"}, "api_key_env": {"--api-key-env", "K"}}})
	for _, model := range []string{"openai/m", "m"} {
		p, name, err := s.Provider(model)
		address, _, _ := p.URL(func(string) string { return "http://elsewhere" })
		if err != nil || name != "m" || address != "http://127.0.0.1:1/v1" || !slices.Equal(p.KeyEnv, []string{"K"}) {
			t.Errorf("%s: %+v %q %v", model, p, name, err)
		}
	}
}

func TestProviderKeyAndURL(t *testing.T) {
	s := load(t, Sources{})
	env := map[string]string{"GOOGLE_API_KEY": "secret", "OPENAI_API_BASE": "https://proxy.example.org/v1"}
	getenv := func(name string) string { return env[name] }
	if key, from := s.Providers["gemini"].Key(getenv); key != "secret" || from != "GOOGLE_API_KEY" {
		t.Errorf("key %q from %q", key, from)
	}
	if address, from, err := s.Providers["openai"].URL(getenv); address != "https://proxy.example.org/v1" || from != "OPENAI_API_BASE" || err != nil {
		t.Errorf("%q from %q: %v", address, from, err)
	}
	for host, want := range map[string]string{
		"":                          "http://127.0.0.1:11434/v1",
		"gpu":                       "http://gpu:11434/v1",
		"gpu:8080":                  "http://gpu:8080/v1",
		":8080":                     "http://127.0.0.1:8080/v1",
		"0.0.0.0":                   "http://127.0.0.1:11434/v1",
		"0.0.0.0:80":                "http://127.0.0.1:80/v1",
		"localhost":                 "http://127.0.0.1:11434/v1",
		"::1":                       "http://[::1]:11434/v1",
		"[::]:9":                    "http://[::1]:9/v1",
		"http://gpu:8080":           "http://gpu:8080/v1",
		"http://gpu:8080/":          "http://gpu:8080/v1",
		"https://gpu.example.org":   "https://gpu.example.org/v1",
		"https://gpu.example.org/x": "https://gpu.example.org/x",
	} {
		env["OLLAMA_HOST"] = host
		if got, _, err := s.Providers["ollama"].URL(getenv); got != want || err != nil {
			t.Errorf("OLLAMA_HOST=%s: %q, want %q: %v", host, got, want, err)
		}
	}
	for _, host := range []string{"ftp://x", "a b"} {
		env["OLLAMA_HOST"] = host
		if got, _, err := s.Providers["ollama"].URL(getenv); err == nil {
			t.Errorf("OLLAMA_HOST=%s gives %q", host, got)
		}
	}
}

func TestLocksNameNoHost(t *testing.T) {
	for name, lock := range map[string][]byte{"python.txt": PythonLock, "python-test.txt": TestLock, "python-lab.txt": LabLock} {
		text := string(lock)
		for _, bad := range []string{"index-url", "://", "find-links"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s contains %q", name, bad)
			}
		}
	}
	// The two are installed together: what both pin, both pin to the same versions.
	pins := map[string][]string{}
	for line := range strings.Lines(string(PythonLock)) {
		if name, _, ok := strings.Cut(line, "=="); ok {
			pins[name] = append(pins[name], strings.TrimRight(strings.Fields(line)[0], " \\;"))
		}
	}
	for line := range strings.Lines(string(TestLock)) {
		name, _, ok := strings.Cut(line, "==")
		if ok && pins[name] != nil && !slices.Contains(pins[name], strings.Fields(line)[0]) {
			t.Errorf("python-test.txt has %s, python.txt %v", strings.Fields(line)[0], pins[name])
		}
	}
}

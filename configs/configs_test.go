package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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

// TestPrecedence: each layer, added on top of the weaker ones, wins.
func TestPrecedence(t *testing.T) {
	user := file(t, "config.yaml", "max_rounds: 6\nmodels: {coder: a/user, planner: a/user}\n")
	project := file(t, "dsstar.yaml", "max_rounds: 3\nmodels: {coder: a/project}\n")
	none := Sources{UserFile: "/nowhere/config.yaml", ProjectFile: "/nowhere/dsstar.yaml"}
	files := Sources{UserFile: user, ProjectFile: project}
	env := files
	env.Env = []string{"DSSTAR_MAX_ROUNDS=4", "DSSTAR_MODELS_CODER=a/env", "DSSTAR_TOP_K="}
	flags := env
	flags.Flags = map[string]Flag{"max_rounds": {"--rounds", 5}, "models.coder": {"-c", "a/flag"}}
	for _, layer := range []struct {
		from Sources
		want string // max_rounds and its source, coder, planner and its source, top_k
	}{
		{none, "20 default [ ] default 100"},
		{Sources{UserFile: user}, "6 " + user + " [a/user a/user] " + user + " 100"},
		{files, "3 " + project + " [a/project a/user] " + user + " 100"},
		{env, "4 environment DSSTAR_MAX_ROUNDS [a/env a/user] " + user + " 100"},
		{flags, "5 flag --rounds [a/flag a/user] " + user + " 100"},
	} {
		s := load(t, layer.from)
		of := map[string]string{}
		for _, e := range s.Explain() {
			of[e.Key] = e.Source
		}
		models := []string{s.Models["coder"], s.Models["planner"]}
		got := fmt.Sprint(s.MaxRounds, " ", of["max_rounds"], " ", models, " ", of["models.planner"], " ", s.TopK)
		if got != layer.want {
			t.Errorf("%s, want %s", got, layer.want)
		}
	}
}

func TestConversions(t *testing.T) {
	s := load(t, Sources{
		UserFile: file(t, "c.yaml",
			"temperature: 1\nproviders: {openai: {key_env: MY_KEY}}\nrollback: replay\n"),
		Env: []string{"DSSTAR_CALL_TIMEOUT=90s", "DSSTAR_RETRIES=0", "DSSTAR_MAX_MEMORY=1.5 GiB"},
		Flags: map[string]Flag{"cell_timeout": {"--cell-timeout", time.Hour},
			"jobs": {"--jobs", "2"}},
	})
	if *s.Temperature != 1 || s.CallTimeout != 90*time.Second || s.Retries != 0 ||
		s.CellTimeout != time.Hour || s.Jobs != 2 || s.Rollback != "replay" || s.MaxMemory != 3<<29 {
		t.Errorf("%+v", s)
	}
	p := s.Providers["openai"]
	if !slices.Equal(p.KeyEnv, []string{"MY_KEY"}) || p.BaseURL != "https://api.openai.com/v1" {
		t.Errorf("openai: %+v", p)
	}
	s = load(t, Sources{UserFile: file(t, "c.yaml", "temperature: 0.5\nmax_rounds: 7\n"),
		ProjectFile: file(t, "d.yaml", "temperature: null\nmax_rounds:\nproviders:\n")})
	if s.Temperature != nil || s.MaxRounds != 7 {
		t.Errorf("null: temperature %v, max_rounds %d", s.Temperature, s.MaxRounds)
	}
}

// TestErrors: an error names its source, the key and what is wrong, and shows no secret.
func TestErrors(t *testing.T) {
	for yaml, want := range map[string]string{
		"max_round: 3":                             "unknown key max_round; did you mean max_rounds?",
		"rounds: 3":                                "unknown key rounds; did you mean max_rounds?",
		"providers: {mine: {base_urll: x}}":        "unknown key providers.mine.base_urll",
		"model: {a: b}":                            "unknown key model.a",
		"models: {a: b}":                           "unknown key models.a",
		"max_rounds: many":                         "max_rounds: is \"many\", ",
		"max_rounds: 2.7":                          "max_rounds: is 2.7, should be a whole number",
		"max_rounds: true":                         "max_rounds: is true, should be a whole number",
		"max_rounds: 0":                            "max_rounds: is 0, ",
		"cell_timeout: 5":                          "cell_timeout: is 5, ",
		"cell_timeout: -5m":                        "cell_timeout: is \"-5m\", ",
		"providers: {openai: {key_env: 3}}":        "providers.openai.key_env: should be ",
		"rollback: maybe":                          "rollback: is \"maybe\", ",
		"max_memory: 4":                            "max_memory: is 4, ",
		"max_memory: 9999999999T":                  "max_memory: is \"9999999999T\", ",
		"temperature: 3":                           "temperature: is 3, ",
		"temperature: .nan":                        "temperature: is NaN",
		"models: a/b":                              "should be a table of keys",
		"providers: {mine: http://x}":              "providers.mine: is \"http://x\", should be a table",
		"providers: {mine: {key_env: [K]}}":        "providers.mine: needs base_url",
		"providers: {mine: {base_url: x}}":         "providers.mine.base_url: is \"x\", ",
		"api_key_env: sk-1234":                     "api_key_env: ",
		"model: a\nmodel: b":                       "already defined",
		"a: [":                                     "yaml: ",
		"base_url: https://user:sk-1234@example.x": "base_url is https://xxxxx@example.x",
		"prices: {a/b: {inputs: 1}}":               "unknown key prices.a/b.inputs",
		"prices: {a/b: {input: -1, output: 1}}":    "prices.a/b.input: is -1, should be at least 0",
		"prices: {a/b: {output: 1}}":               "prices.a/b: needs input",
	} {
		path := file(t, "dsstar.yaml", yaml)
		_, err := Load(Sources{ProjectFile: path})
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "sk-1234") {
			t.Errorf("%q: %v; want the file and %s", yaml, err, want)
		}
	}
	for want, from := range map[string]Sources{
		"environment DSSTAR_MAX_ROUNDS: max_rounds: ": {Env: []string{"DSSTAR_MAX_ROUNDS=x"}},
		"flag --jobs: jobs: is 65, ":                  {Flags: map[string]Flag{"jobs": {"--jobs", 65}}},
		"flag --x: unknown key x":                     {Flags: map[string]Flag{"x": {"--x", 1}}},
	} {
		if _, err := Load(from); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s := load(t, Sources{Env: []string{"DSSTAR_MODLE=a/b", "DSSTAR_TEST_PYTHON=x", "DSSTAR_DB_X=y", "DSSTAR_MCP_TOKEN=z", "PATH=/bin"}})
	if w := s.Warnings; len(w) != 1 || !strings.HasSuffix(w[0], "did you mean DSSTAR_MODEL?") {
		t.Errorf("warnings %q", w)
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"open postgres://u:p@host/db: no":           "open postgres://xxxxx@host/db: no",
		"--data 'mysql+x://u:p%zz@ss@host/db?a=b'":  "--data 'mysql+x://xxxxx@host/db?a=b'",
		"postgres://u:p/w@h/db":                     "postgres://xxxxx@h/db",
		"postgres://u:p#w@h or u://a:p?w@h":         "postgres://xxxxx@h or u://xxxxx@h",
		"http://[::1]:8888/lab/@x":                  "http://[::1]:8888/lab/@x",
		"https://ghp_token@github.com/a":            "https://xxxxx@github.com/a",
		"s3://b/k?X-Amz-Signature=ab&x=1&api_key=k": "s3://b/k?X-Amz-Signature=xxxxx&x=1&api_key=xxxxx",
		"http://localhost:8888/?token=abc more":     "http://localhost:8888/?token=xxxxx more",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	from := Sources{UserFile: file(t, "config.yaml", "base_url: https://u:hunter2@example.org\n")}
	for _, e := range load(t, from).Explain() {
		if strings.Contains(e.Text(), "hunter2") {
			t.Errorf("%s shows a secret", e.Key)
		}
	}
}

// TestListPrices: a model without a price in the settings has its list price, and only its own.
func TestListPrices(t *testing.T) {
	for name, p := range priceList().Prices {
		provider, _, _ := strings.Cut(name, "/")
		if _, ok := load(t, Sources{}).Providers[provider]; !ok || p.Cached > p.Input || p.Input >= p.Output ||
			makers.Replace(name) != name {
			t.Errorf("%s: %+v", name, p)
		}
	}
	s := load(t, Sources{UserFile: file(t, "config.yaml",
		"prices:\n  OpenAI/gpt-5-nano: {input: 7, output: 8}\n  openai/gpt-4.1: {input: 2, cached: 0.5, output: 8}\n")})
	for model, want := range map[string]float64{ // input; -1: unknown
		"openai/gpt-5":                            1.25,
		"OpenAI/GPT-5-2025-08-07":                 1.25,
		"openai/gpt-5-mini-2025-08-07":            0.25,
		"openai/gpt-5-maxi":                       -1,
		"openai/gpt-5.9":                          -1,
		"openai/gpt-5-nano":                       7,
		"openai/gpt-4o-2024-05-13":                5,
		"openai/gpt-4o-2024-11-20":                2.5,
		"anthropic/claude-opus-4-5-20251101":      5,
		"anthropic/claude-opus-4-5-latest":        5,
		"anthropic/claude-opus-5-9":               -1,
		"gemini/gemini-2.5-flash-preview-09-2025": 0.3,
		"gemini/gemini-2.5-pro":                   1.25,
		"openrouter/anthropic/claude-opus-4.5":    5,
		"openrouter/google/gemini-2.5-pro":        1.25,
		"openrouter/meta/llama":                   -1,
		"ollama/qwen3:8b":                         0,
		"ollama/gpt-oss:120b-cloud":               -1,
		"gpt-5":                                   -1,
		"":                                        -1,
		"nobody/gpt-5":                            -1,
	} {
		p, ok := s.Price(model)
		if ok != (want >= 0) || ok && p.Input != want {
			t.Errorf("%s: %v, want %v", model, ok, want)
		}
	}
	for model, want := range map[string]Price{"openai/gpt-5-nano": {7, 7, 8}, "openai/GPT-4.1": {2, 0.5, 8}} {
		if p, _ := s.Price(model); p != want {
			t.Errorf("%s: %+v", model, p)
		}
	}
	s.BaseURL = "https://llm.example.org/v1"
	_, listed := s.Price("openai/gpt-5")
	if _, own := s.Price("openai/gpt-5-nano"); listed || !own {
		t.Error("another server has OpenAI's price, or not the user's")
	}
}

func TestProvider(t *testing.T) {
	mine := Sources{UserFile: file(t, "c.yaml",
		"providers: {MyCorp.AI: {base_url: 'https://llm.example.org/v1', key_env: Corp_Key}}\n")}
	other := Sources{Flags: map[string]Flag{"base_url": {"--base-url", "http://127.0.0.1:1/v1"},
		"api_key_env": {"--api-key-env", "K"}}}
	for model, c := range map[string]struct {
		from Sources
		want string // provider, name, address and variable of the key, or the error
	}{
		"openrouter/meta/llama": {mine, "openrouter meta/llama https://openrouter.ai/api/v1 [OPENROUTER_API_KEY] <nil>"},
		"MyCorp.AI/Some-Model":  {mine, "mycorp.ai Some-Model https://llm.example.org/v1 [Corp_Key] <nil>"},
		"openia/x":              {mine, "did you mean openai?"},
		"gpt-5":                 {mine, "is not provider/name"},
		"openai":                {mine, "is not provider/name"},
		"openai/m":              {other, "openai m http://127.0.0.1:1/v1 [K] <nil>"},
		"m":                     {other, "base_url m http://127.0.0.1:1/v1 [K] <nil>"},
		"ollama":                {other, "base_url ollama http://127.0.0.1:1/v1 [K] <nil>"},
	} {
		p, name, err := load(t, c.from).Provider(model)
		address, _, _ := p.URL(func(string) string { return "http://elsewhere" })
		got := fmt.Sprint(p.Name, " ", name, " ", address, " ", p.KeyEnv, err)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s; want %s", model, got, c.want)
		}
	}
}

func TestProviderKeyAndURL(t *testing.T) {
	providers := load(t, Sources{}).Providers
	env := map[string]string{"GOOGLE_API_KEY": "secret", "OPENAI_API_BASE": "https://proxy.org"}
	getenv := func(name string) string { return env[name] }
	if key, from := providers["gemini"].Key(getenv); key != "secret" || from != "GOOGLE_API_KEY" {
		t.Errorf("key %q from %q", key, from)
	}
	address, from, err := providers["openai"].URL(getenv)
	if address != "https://proxy.org" || from != "OPENAI_API_BASE" || err != nil {
		t.Errorf("%q from %q: %v", address, from, err)
	}
	for host, want := range map[string]string{
		"":                          "http://127.0.0.1:11434/v1",
		"gpu:8080":                  "http://gpu:8080/v1",
		":8080":                     "http://127.0.0.1:8080/v1",
		"0.0.0.0":                   "http://127.0.0.1:11434/v1",
		"localhost":                 "http://127.0.0.1:11434/v1",
		"[::1]":                     "http://[::1]:11434/v1",
		"[::]:9":                    "http://127.0.0.1:9/v1",
		"http://gpu:8080/":          "http://gpu:8080/v1",
		"https://gpu.example.org/x": "https://gpu.example.org/x",
		"ftp://x":                   "",
		"a b":                       "",
	} {
		env["OLLAMA_HOST"] = host
		got, _, err := providers["ollama"].URL(getenv)
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("OLLAMA_HOST=%s: %q, want %q: %v", host, got, want, err)
		}
	}
}

// TestLocks: lock files name no host. That those which are installed together agree, their
// installation shows.
func TestLocks(t *testing.T) {
	for _, lock := range [][]byte{PythonLock, TestLock, LabLock, OldKernelLock} {
		for _, bad := range []string{"index-url", "://", "find-links"} {
			if strings.Contains(string(lock), bad) {
				t.Errorf("a lock file contains %q", bad)
			}
		}
	}
}

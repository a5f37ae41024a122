package configs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A project file can tighten the sandbox, never relax it.
func TestProjectCannotRelax(t *testing.T) {
	for _, c := range []struct {
		user, project string
		refused       string // the key; "": the file is accepted
	}{
		{"", "sandbox: off", "sandbox"},
		{"", "sandbox: full", ""},
		{"sandbox: off", "sandbox: builtin", ""},
		{"sandbox: full", "sandbox: auto", "sandbox"},
		{"", "allow_net: true", "allow_net"},
		{"allow_net: true", "allow_net: true", ""},
		{"", "allow_multiprocessing: true", "allow_multiprocessing"},
		{"", "allow_read: [/a]", "allow_read"},
		{"allow_read: [/a, /b]", "allow_read: [/b]", ""},
		{"", "mask: [name]", ""},
		{"mask: [name]", "mask: [name, id]", ""},
		{"mask: [name, id]", "mask: [id]", "mask"},
		{"allow_read: [/a]", "allow_read: [/a/.., /a]", "allow_read"},
		{"", "allow_write: [/a]", "allow_write"},
		{"", "allow_env: [KEY]", "allow_env"},
		{"", "max_processes: 257", "max_processes"},
		{"", "max_processes: 255", ""},
		{"", "max_file: 3GB", "max_file"},
		{"", "max_file: 0", "max_file"},
		{"", "max_download: 3GB", "max_download"},
		{"", "max_download: 0", "max_download"},
		{"", "max_folder: 5GB", "max_folder"},
		{"", "max_memory: 4GB", "max_memory"},
		{"max_memory: 8GB", "max_memory: 0", "max_memory"},
		{"", "python: ./python", "python"},
		{"", "server: http://localhost:8888", "server"},
		{"", "kernel: newest", "kernel"},
		{"", "max_cost: 5", ""},
		{"max_cost: 1.5", "max_cost: 0", "max_cost"},
		{"max_calls: 10", "max_calls: 0", "max_calls"},
		{"max_calls: 10", "max_calls: 9", ""},
		{"max_time: 10m", "max_time: 11m", "max_time"},
		{"", "cell_timeout: 1h", ""},
		{"", "base_url: https://example.org/v1", "base_url"},
		{"", "base_url: ''", ""},
		{"", "api_key_env: OTHER_KEY", "api_key_env"},
		{"", "providers: {openai: {base_url: 'https://example.org/v1'}}", "providers.openai.base_url"},
		{"", "model: openai/other", ""},
		// S9, S10 and similar.
		{"", "model: replay:.trace.jsonl", "model"},
		{"", "model: demo", "model"},
		{"", "models: {verifier: 'replay:.trace.jsonl'}", "models.verifier"},
		{"model: ollama/one", "model: Ollama/other", ""},
		{"model: ollama/one", "model: openai/other", "model"},
		{"model: ollama/one", "models: {coder: openai/other}", "models.coder"},
		{"models: {coder: openai/one}", "models: {planner: openai/other}", ""},
		{"base_url: https://example.org/v1\nmodel: one", "model: other/one", ""},
		{"prices: {a/b: {input: 1, output: 2}}", "prices: {a/b: {input: 0}}", "prices.a/b.input"},
		{"prices: {a/b: {input: 1, output: 2}}", "prices: {a/b: {input: 1, output: 2}}", ""},
		{"", "max_rounds: 21", "max_rounds"},
		{"max_rounds: 30", "max_rounds: 21", ""},
		{"", "debug_tries: 4", "debug_tries"},
		{"", "retries: 100", "retries"},
		{"", "top_k: 101", "top_k"},
		{"", "max_files: 2001", "max_files"},
		{"", "context_chars: 80001", "context_chars"},
		{"", "jobs: 64", "jobs"},
		{"max_output_tokens: 100", "max_output_tokens: 0", "max_output_tokens"},
		{"", "method: {paper: true}", "method.paper"},
		{"", "method: {verifier_input: query-plan}", "method.verifier_input"},
		{"", "method: {router: false}", ""},
		{"", "method: {analyzer: none}", ""},
		{"", "out: answers/here", ""},
		{"", "out: /srv/answers", "out"},
		{"out: /srv/answers", "out: /srv/answers", ""},
	} {
		from := Sources{UserFile: file(t, "config.yaml", c.user),
			ProjectFile: file(t, "dsstar.yaml", c.project)}
		_, err := Load(from)
		relaxed, is := errors.AsType[*RelaxedError](err)
		if is != (c.refused != "") ||
			is && (relaxed.Key != c.refused || relaxed.File != from.ProjectFile) ||
			!is && err != nil {
			t.Errorf("%q over %q: %v, want %q refused", c.project, c.user, err, c.refused)
		}
	}
}

// A stronger layer overrides the project file.
func TestProjectOverruled(t *testing.T) {
	from := Sources{
		ProjectFile: file(t, "dsstar.yaml", "allow_read: [/a]\nsandbox: off\npython: ./p\n"),
	}
	from.Env = []string{"DSSTAR_SANDBOX=full", "DSSTAR_PYTHON=/usr/bin/python3"}
	if _, err := Load(from); err == nil || !strings.Contains(err.Error(), "allow_read is /a, ") {
		t.Errorf("%v", err)
	}
	from.Flags = map[string]Flag{"allow_read": {"--allow-read", "/b"}}
	if s, err := Load(from); err != nil || s.Sandbox != "full" || fmt.Sprint(s.AllowRead) != "[/b]" {
		t.Errorf("%+v %v", s, err)
	}
}

// A model on the command line is the user's choice, too: a project file cannot send data to another
// provider.
func TestProjectBesideFlag(t *testing.T) {
	from := Sources{
		ProjectFile: file(t, "dsstar.yaml", "model: openai/other\nmodels: {coder: openai/other}\n"),
	}
	from.Flags = map[string]Flag{"model": {"--model", "ollama/one"}}
	_, err := Load(from)
	if relaxed, is := errors.AsType[*RelaxedError](err); !is || relaxed.Key != "models.coder" {
		t.Errorf("%v", err)
	}
}

// Every setting says what a project's file may do with it: it cannot let cells do more, spend more,
// weaken "verified" or redirect anything.
func TestProjectRulesAreWhole(t *testing.T) {
	for _, f := range fields() {
		class, key := f.Tag.Get("project"), f.key
		if cannot[class] == "" && class != "free" && class != "redirects" {
			t.Errorf("what can a project's file do with %s?", key)
		}
	}
}

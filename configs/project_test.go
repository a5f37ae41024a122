package configs

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A project file can tighten the settings, never relax them.
func TestProjectCannotRelax(t *testing.T) {
	type layers struct{ user, project, flags, refused string } // refused is a key; "": the file is accepted
	all := []layers{
		{"sandbox: off", "sandbox: builtin", "", ""},
		{"sandbox: full", "sandbox: auto", "", "sandbox"},
		{"allow_net: true", "allow_net: true", "", ""},
		{"allow_read: [/a, /b]", "allow_read: [/b]", "", ""},
		{"mask: [name]", "mask: [name, id]", "", ""},
		{"mask: [name, id]", "mask: [id]", "", "mask"},
		{"allow_read: [/a]", "allow_read: [/a/.., /a]", "", "allow_read"},
		{"max_memory: 8GB", "max_memory: 0", "", "max_memory"},
		{"max_cost: 1.5", "max_cost: 0", "", "max_cost"},
		{"max_calls: 10", "max_calls: 0", "", "max_calls"},
		{"max_calls: 10", "max_calls: 9", "", ""},
		{"max_time: 10m", "max_time: 11m", "", "max_time"},
		{"model: ollama/one", "model: Ollama/other", "", ""},
		{"model: ollama/one", "model: openai/other", "", "model"},
		{"model: ollama/one", "models: {coder: openai/other}", "", "models.coder"},
		{"models: {coder: openai/one}", "models: {planner: openai/other}", "", ""},
		{"base_url: https://example.org/v1\nmodel: one", "model: other/one", "", ""},
		{"prices: {a/b: {input: 1, output: 2}}", "prices: {a/b: {input: 0}}", "", "prices.a/b.input"},
		{"prices: {a/b: {input: 1, output: 2}}", "prices: {a/b: {input: 1, output: 2}}", "", ""},
		{"max_rounds: 30", "max_rounds: 21", "", ""},
		{"max_output_tokens: 100", "max_output_tokens: 0", "", "max_output_tokens"},
		{"out: /srv/answers", "out: /srv/answers", "", ""},
		{"", "providers: {openai: {base_url: 'https://example.org/v1'}}", "", "providers.openai.base_url"},
		{"", "models: {verifier: 'replay:.trace.jsonl'}", "", "models.verifier"},
		{"", "method: {paper: true}", "", "method.paper"},
		{"", "method: {second: false}", "", "method.second"},
		{"", "method: {verifier_input: query-plan}", "", "method.verifier_input"},
		// What a stronger layer sets is the user's choice, and a project cannot lead away from it.
		{"", "sandbox: off\npython: ./p\nallow_read: [/a]", "sandbox=full python=/p", "allow_read"},
		{"", "sandbox: off\npython: ./p\nallow_read: [/a]", "sandbox=full python=/p allow_read=/b", ""},
		{"", "model: openai/other\nmodels: {coder: openai/other}", "model=ollama/one", "models.coder"},
	}
	for _, project := range []string{"sandbox: full", "mask: [name]", "max_processes: 255", "max_cost: 5",
		"cell_timeout: 1h", "base_url: ''", "model: openai/other", "method: {router: false}",
		"method: {analyzer: none}", "out: answers/here"} {
		all = append(all, layers{"", project, "", ""})
	}
	for _, project := range []string{"sandbox: off", "allow_net: true", "allow_multiprocessing: true",
		"allow_gpu: true", "allow_read: [/a]", "allow_write: [/a]", "allow_env: [KEY]", "max_processes: 257",
		"max_file: 3GB", "max_file: 0", "max_download: 3GB", "max_download: 0", "max_folder: 5GB",
		"max_memory: 4GB", "python: ./python", "server: http://localhost:8888", "kernel: newest",
		"base_url: https://example.org/v1", "api_key_env: OTHER_KEY", "model: replay:.trace.jsonl",
		"model: demo", "max_rounds: 21", "debug_tries: 4", "retries: 100", "top_k: 101", "max_files: 2001",
		"context_chars: 80001", "jobs: 64", "learn: true", "out: /srv/answers",
		"memory: ../there"} {
		key, _, _ := strings.Cut(project, ":")
		all = append(all, layers{"", project, "", key})
	}
	for _, c := range all {
		from := Sources{UserFile: file(t, "config.yaml", c.user), Flags: map[string]Flag{},
			ProjectFile: file(t, "dsstar.yaml", c.project)}
		for flag := range strings.FieldsSeq(c.flags) {
			key, value, _ := strings.Cut(flag, "=")
			from.Flags[key] = Flag{"--" + key, value}
		}
		_, err := Load(from)
		relaxed, is := errors.AsType[*RelaxedError](err)
		if is != (c.refused != "") ||
			is && (relaxed.Key != c.refused || relaxed.File != from.ProjectFile) ||
			!is && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Every setting has a default, and says what a project's file may do with it: it cannot let cells do
// more, spend more, weaken "verified" or redirect anything.
func TestProjectRulesAreWhole(t *testing.T) {
	for _, f := range fields() {
		if _, known := cannot[f.class]; !known {
			t.Errorf("what can a project's file do with %s?", f.key)
		}
		if _, there := defaults()[f.key]; !there && f.Type.Kind() != reflect.Map {
			t.Errorf("default.yaml lacks %s", f.key)
		}
	}
}

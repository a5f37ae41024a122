package configs

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// A project file makes the sandbox tighter than it is without it, never looser.
func TestProjectCannotRelax(t *testing.T) {
	for _, c := range []struct {
		user, project string
		refused       string // the key; "": it is taken
	}{
		{"", "sandbox: off", "sandbox"},
		{"", "sandbox: external", "sandbox"},
		{"", "sandbox: full", ""},
		{"", "sandbox: builtin", ""},
		{"sandbox: off", "sandbox: builtin", ""},
		{"sandbox: off", "sandbox: off", ""},
		{"sandbox: full", "sandbox: auto", "sandbox"},
		{"sandbox: full", "sandbox: builtin", "sandbox"},
		{"", "allow_net: true", "allow_net"},
		{"", "allow_net: false", ""},
		{"allow_net: true", "allow_net: true", ""},
		{"allow_net: true", "allow_net: false", ""},
		{"", "allow_multiprocessing: true", "allow_multiprocessing"},
		{"", "allow_read: [/a]", "allow_read"},
		{"", "allow_read: /a", "allow_read"},
		{"allow_read: [/a, /b]", "allow_read: [/b]", ""},
		{"allow_read: [/a]", "allow_read: [/a/.., /a]", "allow_read"},
		{"allow_read: [/a]", "allow_read: []", ""},
		{"", "allow_write: [/a]", "allow_write"},
		{"", "allow_env: [KEY]", "allow_env"},
		{"", "max_processes: 257", "max_processes"},
		{"", "max_processes: 255", ""},
		{"max_processes: 1000", "max_processes: 999", ""},
		{"", "max_file: 3GB", "max_file"},
		{"", "max_file: 0", "max_file"},
		{"max_file: 0", "max_file: 9GB", ""},
		{"", "max_folder: 1GB", ""},
		{"", "max_folder: 5GB", "max_folder"},
		{"", "max_memory: 4GB", "max_memory"},
		{"", "max_memory: 0", ""},
		{"max_memory: 8GB", "max_memory: 4GB", ""},
		{"max_memory: 8GB", "max_memory: 0", "max_memory"},
		{"", "python: ./python", "python"},
		{"python: /usr/bin/python3", "python: /usr/bin/python3", ""},
		{"", "server: http://localhost:8888", "server"},
		{"", "kernel: newest", "kernel"},
		{"kernel: newest", "kernel: ''", ""},
		{"", "max_cost: 5", ""},
		{"max_cost: 1.5", "max_cost: 2", "max_cost"},
		{"max_cost: 1.5", "max_cost: 0", "max_cost"},
		{"max_cost: 1.5", "max_cost: 1.5", ""},
		{"max_calls: 10", "max_calls: 0", "max_calls"},
		{"max_calls: 10", "max_calls: 9", ""},
		{"max_time: 10m", "max_time: 11m", "max_time"},
		{"max_time: 10m", "max_time: 1s", ""},
		{"", "cell_timeout: 1h", ""},
		{"cell_timeout: 1m", "cell_timeout: 2m", "cell_timeout"},
		{"", "ask_above_tokens: 0", "ask_above_tokens"},
		{"", "ask_above_tokens: 1000", ""},
		{"", "max_rounds: 3", ""},
		{"", "base_url: https://example.org/v1", "base_url"},
		{"base_url: https://example.org/v1", "base_url: https://example.org/v1", ""},
		{"", "base_url: ''", ""},
		{"", "api_key_env: OTHER_KEY", "api_key_env"},
		{"", "providers: {openai: {base_url: 'https://example.org/v1'}}", "providers.openai.base_url"},
		{"", "providers: {openai: {key_env: OTHER}}", "providers.openai.key_env"},
		{"", "model: openai/other", ""},
	} {
		from := Sources{UserFile: file(t, "config.yaml", c.user), ProjectFile: file(t, "dsstar.yaml", c.project)}
		_, err := Load(from)
		relaxed, is := errors.AsType[*RelaxedError](err)
		if is != (c.refused != "") || is && (relaxed.Key != c.refused || relaxed.File != from.ProjectFile) || !is && err != nil {
			t.Errorf("%q over %q: %v, want %q refused", c.project, c.user, err, c.refused)
		}
	}
}

// What a stronger layer says counts, and the project's word does not.
func TestProjectOverruled(t *testing.T) {
	from := Sources{ProjectFile: file(t, "dsstar.yaml", "allow_read: [/a]\nsandbox: off\npython: ./p\n")}
	from.Env = []string{"DSSTAR_SANDBOX=full", "DSSTAR_PYTHON=/usr/bin/python3"}
	if _, err := Load(from); err == nil || !strings.Contains(err.Error(), "allow_read: ") || !strings.Contains(err.Error(), "allow_read: is /a, ") {
		t.Errorf("%v", err)
	}
	from.Flags = map[string]Flag{"allow_read": {"--allow-read", "/b"}}
	if s, err := Load(from); err != nil || s.Sandbox != "full" || fmt.Sprint(s.AllowRead) != "[/b]" {
		t.Errorf("%+v %v", s, err)
	}
}

// Every setting that allows or limits something is among those that a project cannot relax.
func TestConfinementIsWhole(t *testing.T) {
	loop := "max_output_tokens max_rounds max_files" // limits of the loop, not of cells
	for f := range reflect.TypeFor[Settings]().Fields() {
		key := f.Tag.Get("mapstructure")
		if (strings.HasPrefix(key, "allow_") || strings.HasPrefix(key, "max_") && !strings.Contains(loop, key)) && confinement[key] == nil && budgets[key] == nil {
			t.Errorf("a project can relax %s", key)
		}
	}
}

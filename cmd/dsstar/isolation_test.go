package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/configs"
	"dsstar/kernel"
)

// The demo's generator runs outside the sandbox: nothing of the current folder runs with it, and it has no keys (S2).
func TestDemoDataInIsolation(t *testing.T) {
	a, _, _ := testApp(t, "OPENAI_API_KEY=secret", "MY_TOKEN=secret", "PYTHONPATH=:"+t.TempDir())
	dir, python := t.TempDir(), filepath.Join(t.TempDir(), "python3")
	script := "#!/bin/sh\nenv >" + dir + "/env; pwd >" + dir + "/pwd; echo \"$1\" >" + dir + "/flag; for last; do :; done; mkdir \"$last\"\n"
	if err := os.WriteFile(python, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	a.CacheDir = t.TempDir()
	here := t.TempDir()
	t.Chdir(here)
	s, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := a.demoData(t.Context(), s, kernel.PythonSpec(python))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(data); err != nil {
		t.Error(err)
	}
	told := func(name string) string { b, _ := os.ReadFile(filepath.Join(dir, name)); return string(b) }
	if env := told("env"); env == "" || strings.Contains(env, "secret") || strings.Contains(env, "PYTHONPATH") {
		t.Errorf("its environment: %s", env)
	}
	if told("pwd") == here+"\n" || told("flag") != "-E\n" {
		t.Errorf("it runs in %s with %s", told("pwd"), told("flag"))
	}
}

// Programs are not looked for in the current folder, whatever PATH says.
func TestWholePaths(t *testing.T) {
	for list, want := range map[string]string{
		"/usr/bin:/bin": "/usr/bin:/bin", ".:/usr/bin::bin:/bin:": "/usr/bin:/bin", ".": "", "": "",
	} {
		if got := wholePaths(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

// A package index may have its password in the settings of pip and uv; other keys are not for them.
func TestInstallEnv(t *testing.T) {
	a, _, _ := testApp(t, "PIP_INDEX_URL=https://u:p@host/", "UV_INDEX_MINE_PASSWORD=p", "MY_TOKEN=t", "MINE=key", "PATH_LIKE=x")
	env := strings.Join(a.InstallEnv(&configs.Settings{APIKeyEnv: "MINE"}), "\n") + "\n"
	for entry, want := range map[string]bool{
		"PIP_INDEX_URL=https://u:p@host/": true, "UV_INDEX_MINE_PASSWORD=p": true, "PATH_LIKE=x": true, "MY_TOKEN=t": false, "MINE=key": false,
	} {
		if strings.Contains(env, entry+"\n") != want {
			t.Errorf("%s: want %v", entry, want)
		}
	}
}

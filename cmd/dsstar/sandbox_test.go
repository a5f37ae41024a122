package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"dsstar/configs"
	"dsstar/kernel/sandbox"
)

// The flags that relax the sandbox reach it.
func TestRelaxingFlags(t *testing.T) {
	a, _, _ := testApp(t)
	for flag, relaxed := range map[string]func(sandbox.Box) bool{
		"--allow-gpu": func(b sandbox.Box) bool { return b.GPU }, "--allow-net": func(b sandbox.Box) bool { return b.Net },
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		settingFlags(flags)
		if err := flags.Parse([]string{flag, "--sandbox=off"}); err != nil {
			t.Fatal(err)
		}
		s, err := a.settings(flags)
		if err != nil {
			t.Fatal(err)
		}
		if b, _, err := box(s); err != nil || !relaxed(b) {
			t.Errorf("%s: %+v %v", flag, b, err)
		}
	}
}

// TestAllowWrite: the account is not given to cells by --allow-write, and where the user's tools run something from a
// folder, that is said.
func TestAllowWrite(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := sandbox.Choose("auto"); err != nil {
		t.Skip(err)
	}
	write := func(path string) (sandbox.Box, error) {
		b, _, err := box(&configs.Settings{Sandbox: "auto", AllowWrite: []string{path}})
		return b, err
	}
	if _, err := write(home); err == nil || !strings.Contains(err.Error(), "would give your account to the cells") {
		t.Errorf("the home: %v", err)
	}
	if b, err := write(project); err != nil || !strings.Contains(handsOver(b), ".git") {
		t.Errorf("a project: %v %q", err, handsOver(b))
	}
	if b, err := write(t.TempDir()); err != nil || handsOver(b) != "" {
		t.Errorf("a folder: %v %q", err, handsOver(b))
	}
}

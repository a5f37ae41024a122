package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/configs"
	"dsstar/kernel/sandbox"
)

// TestAllowWrite: --allow-write never grants access to the user's account, and warns about folders
// from which the user's tools run code.
func TestAllowWrite(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := sandbox.Choose("builtin"); err != nil {
		t.Skip(err)
	}
	write := func(path string) (sandbox.Box, error) {
		b, _, err := Host{}.Box(&configs.Settings{Sandbox: "builtin", AllowWrite: []string{path}})
		return b, err
	}
	if _, err := write(home); err == nil ||
		!strings.Contains(err.Error(), "would give your account to the cells") {
		t.Errorf("the home: %v", err)
	}
	if b, err := write(project); err != nil || !strings.Contains(HandsOver(b), ".git") {
		t.Errorf("a project: %v %q", err, HandsOver(b))
	}
	if b, err := write(t.TempDir()); err != nil || HandsOver(b) != "" {
		t.Errorf("a folder: %v %q", err, HandsOver(b))
	}
}

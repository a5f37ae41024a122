//go:build unix

package configs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no file, or a huge one, is not read for settings (S28).
func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	pipe, zero, huge := filepath.Join(dir, "pipe"), filepath.Join(dir, "zero"), filepath.Join(dir, "huge")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", zero); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(huge, []byte("# "+strings.Repeat("x", mostSettings)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, zero, huge, dir} {
		if _, err := Load(Sources{ProjectFile: path}); err == nil || !strings.Contains(err.Error(), "is not a file of at most") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

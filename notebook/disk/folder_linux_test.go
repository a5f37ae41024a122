package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// deep makes n nested folders in dir, like a cell that changes into each.
func deep(t *testing.T, dir string, n int) {
	t.Helper()
	at, err := syscall.Open(dir, syscall.O_RDONLY, 0)
	for range n {
		if err == nil {
			err = syscall.Mkdirat(at, "d", 0o755)
		}
		if err == nil {
			var next int
			next, err = syscall.Openat(at, "d", syscall.O_RDONLY, 0)
			_ = syscall.Close(at)
			at = next
		}
	}
	if err := errors.Join(err, syscall.Close(at)); err != nil {
		t.Fatal(err)
	}
}

// Folders are removed even if they are nested more deeply than files may be open, or unreadable.
func TestRemoveDeep(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 500, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) })
	for name, remove := range map[string]func(string) error{"emptied": EmptyFolder,
		"removed": RemoveFolder} {
		t.Run(name, func(t *testing.T) {
			outside := filepath.Join(t.TempDir(), "outside")
			dir := filepath.Join(t.TempDir(), "files")
			for _, path := range []string{outside, filepath.Join(dir, "closed", "in")} {
				if err := os.MkdirAll(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			deep(t, dir, 1000)
			err := errors.Join(os.WriteFile(filepath.Join(outside, "a"), nil, 0o444),
				os.Symlink(outside, filepath.Join(dir, "closed", "in", "link")),
				os.Chmod(filepath.Join(dir, "closed", "in"), 0),
				os.Chmod(filepath.Join(dir, "closed"), 0), remove(dir))
			if err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(dir)
			if name == "emptied" && (err != nil || len(entries) > 0) ||
				name == "removed" && !os.IsNotExist(err) {
				t.Errorf("left: %v %v", entries, err)
			}
			if _, err := os.Stat(filepath.Join(outside, "a")); err != nil {
				t.Error(err)
			}
		})
	}
	if err := RemoveFolder(filepath.Join(t.TempDir(), "none", "none")); err != nil {
		t.Error(err)
	}
}

// Whatever has taken the place of a folder is removed when the folder is emptied, but nothing that it
// leads to.
func TestEmptyReplaced(t *testing.T) {
	eachIrregular(t, func(t *testing.T, path, _ string) {
		if err := EmptyFolder(path); err != nil {
			t.Error(err)
		}
		info, err := os.Lstat(path)
		if entries, e := os.ReadDir(path); errors.Join(err, e) != nil || !info.IsDir() || len(entries) > 0 {
			t.Errorf("%v %v %v", entries, err, e)
		}
	})
}

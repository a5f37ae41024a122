package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Folders are removed even if they are nested deeply or unreadable.
func TestRemove(t *testing.T) {
	for name, remove := range map[string]func(string) error{
		"emptied": func(path string) error { return EmptyFolder(path, nil) },
		"removed": RemoveFolder} {
		outside := filepath.Join(t.TempDir(), "outside")
		dir := filepath.Join(t.TempDir(), "files")
		closed := filepath.Join(dir, strings.Repeat("d/", 1000), "closed")
		err := errors.Join(os.Mkdir(outside, 0o755), os.MkdirAll(closed, 0o755),
			os.WriteFile(filepath.Join(outside, "a"), nil, 0o444),
			os.Symlink(outside, filepath.Join(closed, "link")), os.Chmod(closed, 0),
			os.Chmod(filepath.Dir(closed), 0), remove(dir))
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
	}
	if err := RemoveFolder(filepath.Join(t.TempDir(), "none", "none")); err != nil {
		t.Error(err)
	}
}

// Whatever has taken the place of a folder is removed when the folder is emptied, but nothing that it
// leads to.
func TestEmptyReplaced(t *testing.T) {
	eachIrregular(t, func(t *testing.T, path, _ string) {
		if err := EmptyFolder(path, nil); err != nil {
			t.Error(err)
		}
		info, err := os.Lstat(path)
		if entries, e := os.ReadDir(path); errors.Join(err, e) != nil || !info.IsDir() || len(entries) > 0 {
			t.Errorf("%v %v %v", entries, err, e)
		}
	})
}

package rerun

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dsstar/notebook"
)

// TestOutFileHeld: the executed notebook is written to its original folder, even if cells replace
// that folder.
func TestOutFileHeld(t *testing.T) {
	t.Parallel()
	dir, outside := filepath.Join(t.TempDir(), "dir"), t.TempDir()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o, err := newOutFile(filepath.Join(dir, "a.ipynb"), "")
	if err == nil {
		err = errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink(outside, dir), o.save(&notebook.Notebook{}))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir+"-moved", "a.rerun.ipynb")); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v %v", entries, err)
	}
}

package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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

// TestSweepTemp: folders of killed programs are removed, but not those that are in use, belong to
// another user or are behind a link.
func TestSweepTemp(t *testing.T) {
	dir := t.TempDir()
	left, err := TempFolder(dir, "dsstar-test-")
	mine, mineErr := TempFolder(dir, "dsstar-test-")
	err = errors.Join(err, mineErr, os.MkdirAll(filepath.Join(left, "a/b"), 0o755),
		os.Symlink(filepath.Join(dir, "outside"), filepath.Join(left, "a/b/link")))
	for _, folder := range []string{"outside/deep", "dsstar-test-1", "dsstar-other-1.tmp"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	err = errors.Join(err, os.Symlink("outside", filepath.Join(dir, "dsstar-test-2.tmp")),
		os.WriteFile(filepath.Join(dir, "dsstar-test-3.tmp"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	sweeps := func(when string, gone ...string) {
		t.Helper()
		SweepTemp(dir, "dsstar-test-")
		for _, name := range []string{left, mine, "outside/deep", "dsstar-test-1", "dsstar-other-1.tmp", "dsstar-test-2.tmp", "dsstar-test-3.tmp"} {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, name)
			}
			_, err := os.Lstat(path)
			want := slices.Contains(gone, name)
			if errors.Is(err, os.ErrNotExist) != want {
				t.Errorf("%s: %s: %v", when, name, err)
			}
		}
	}
	sweeps("while both live")
	lock, _ := locks.Load(left)
	if err := lock.(*os.File).Close(); err != nil { // as the end of its program does
		t.Fatal(err)
	}
	sweeps("after one was killed", left)
	if err := RemoveTemp(mine); err != nil {
		t.Error(err)
	}
	if _, held := locks.Load(mine); held {
		t.Error("still held")
	}
	alone(t, filepath.Join(dir, "outside", "x"), "deep")
}

// TestWriteFileWhole: a file is replaced by another one and never missing, so whoever reads meanwhile
// finds one of the versions.
func TestWriteFileWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, []byte("old"))
	was, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer was.Close()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, filepath.Dir(path), unix.IN_DELETE)
	if err = errors.Join(err, WriteFile(path, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(fd, make([]byte, 4096)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("it was missing: %d, %v", n, err)
	}
	if old, err := io.ReadAll(was); err != nil || string(old) != "old" {
		t.Errorf("it was written to: %q, %v", old, err)
	}
	holds(t, path, []byte("new"))
}

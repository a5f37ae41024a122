package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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
		must(t, os.Mkdir(outside, 0o755), os.MkdirAll(closed, 0o755),
			os.WriteFile(filepath.Join(outside, "a"), nil, 0o444),
			os.Symlink(outside, filepath.Join(closed, "link")), os.Chmod(closed, 0),
			os.Chmod(filepath.Dir(closed), 0), remove(dir))
		entries, err := os.ReadDir(dir)
		if name == "emptied" && (err != nil || len(entries) > 0) ||
			name == "removed" && !os.IsNotExist(err) {
			t.Errorf("left: %v %v", entries, err)
		}
		alone(t, filepath.Join(outside, "a"), "a")
	}
	must(t, RemoveFolder(filepath.Join(t.TempDir(), "none", "none")))
}

// TestSweepTemp: folders of killed programs are removed, but not those that are in use, belong to
// another user or are behind a link.
func TestSweepTemp(t *testing.T) {
	dir := t.TempDir()
	left, err := TempFolder(dir, "dsstar-test-")
	must(t, err)
	mine, err := TempFolder(dir, "dsstar-test-")
	must(t, err, os.MkdirAll(filepath.Join(left, "a/b"), 0o755),
		os.Symlink(filepath.Join(dir, "outside"), filepath.Join(left, "a/b/link")),
		os.MkdirAll(filepath.Join(dir, "outside/deep"), 0o755),
		os.Mkdir(filepath.Join(dir, "dsstar-test-1"), 0o755),
		os.Mkdir(filepath.Join(dir, "dsstar-other-1.tmp"), 0o755),
		os.Symlink("outside", filepath.Join(dir, "dsstar-test-2.tmp")),
		os.WriteFile(filepath.Join(dir, "dsstar-test-3.tmp"), nil, 0o644))
	sweeps := func(names ...string) {
		t.Helper()
		SweepTemp(dir, "dsstar-test-")
		alone(t, left, append(names, "outside", "dsstar-test-1", "dsstar-other-1.tmp",
			"dsstar-test-2.tmp", "dsstar-test-3.tmp")...)
	}
	sweeps(filepath.Base(left), filepath.Base(mine))
	lock, _ := locks.Load(left)
	must(t, lock.(*os.File).Close()) // as the end of its program does
	sweeps(filepath.Base(mine))
	must(t, RemoveTemp(mine))
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
	must(t, err)
	defer was.Close()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	must(t, err)
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, filepath.Dir(path), unix.IN_DELETE)
	must(t, err)
	must(t, WriteFile(path, []byte("new")))
	if n, err := unix.Read(fd, make([]byte, 4096)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("it was missing: %d, %v", n, err)
	}
	if old, err := io.ReadAll(was); err != nil || string(old) != "old" {
		t.Errorf("it was written to: %q, %v", old, err)
	}
	holds(t, path, []byte("new"))
}

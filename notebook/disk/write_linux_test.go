package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

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

package disk

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWriteFileWhole: a file is replaced by a rename and by nothing else, so whoever reads meanwhile
// finds one of the versions.
func TestWriteFileWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, []byte("old"))
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	events := make([]byte, 4096)
	_, err = unix.InotifyAddWatch(fd, filepath.Dir(path),
		unix.IN_CREATE|unix.IN_MODIFY|unix.IN_DELETE|unix.IN_MOVE)
	err = errors.Join(err, WriteFile(path, []byte("new")))
	n, e := unix.Read(fd, events)
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	renamed := 0
	for at := 0; at < n; {
		mask := binary.NativeEndian.Uint32(events[at+4:])
		start := at + unix.SizeofInotifyEvent
		at = start + int(binary.NativeEndian.Uint32(events[at+12:]))
		switch name := unix.ByteSliceToString(events[start:at]); {
		case name == "f" && mask == unix.IN_MOVED_TO:
			renamed++
		case name == "f":
			t.Errorf("the file has been changed otherwise: %#x", mask)
		}
	}
	if renamed != 1 {
		t.Errorf("it is renamed %d times", renamed)
	}
	holds(t, path, []byte("new"))
}

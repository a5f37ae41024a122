//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// bytes that a file or folder counts at least, as inodes are limited too
	leastOfFile   = 4096
	deepestFolder = 500 // levels; each takes a descriptor
)

// A tally is what folders take on disk.
type tally struct {
	bytes  int64
	hidden map[inode]bool // folders of this user that cannot be read
}

// written returns what the writable folders take on disk.
func (st stage) written() tally {
	t := tally{hidden: map[inode]bool{}}
	for _, dir := range st.Write {
		_ = t.add(unix.AT_FDCWD, dir, 0) // it may have gone
	}
	return t
}

// add adds a file, or a folder and everything below it. It works with descriptors, as paths may
// become too long. It fails if the status of the file cannot be read, except if it is gone.
func (t *tally) add(parent int, name string, depth int) error {
	var st unix.Stat_t
	if err := unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return unlessGone(err)
	}
	t.bytes += max(st.Blocks*512, leastOfFile)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil
	}
	if err := t.addBelow(parent, name, depth); unlessGone(err) != nil && int(st.Uid) == os.Geteuid() {
		t.hidden[inode{st.Dev, st.Ino}] = true
	}
	return nil
}

var errTooDeep = errors.New("folders are nested too deeply")

// addBelow adds the entries of a folder.
func (t *tally) addBelow(parent int, name string, depth int) error {
	if depth == deepestFolder {
		return errTooDeep
	}
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC,
		0)
	if err != nil {
		return err
	}
	folder := os.NewFile(uintptr(fd), name)
	defer folder.Close()
	for {
		names, err := folder.Readdirnames(1000)
		for _, name := range names {
			if err := t.add(fd, name, depth+1); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// unlessGone returns err, or nil if it says that a file is gone or has been replaced since it was
// listed.
func unlessGone(err error) error {
	for _, gone := range []error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ESTALE} {
		if errors.Is(err, gone) {
			return nil
		}
	}
	return err
}

// hidesMore reports whether t has an unreadable folder that before does not have.
func (t tally) hidesMore(before tally) bool {
	for folder := range t.hidden {
		if !before.hidden[folder] {
			return true
		}
	}
	return false
}

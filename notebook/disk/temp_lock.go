package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free returns how many bytes this program may still write to the file system of folder.
func Free(folder string) (int64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	return int64(s.Bavail) * int64(s.Bsize), err
}

// lockFolder opens and locks the folder at path, or fails if it is locked. Closing the file unlocks
// the folder, and so does the end of this program, even if it is killed.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path,
		os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil && !sameAt(path, f) {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, f.Close())
	}
	return f, nil
}

func ownedByMe(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

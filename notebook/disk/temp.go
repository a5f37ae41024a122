package disk

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// tempSuffix ends the names of folders that stay locked while their program runs.
const tempSuffix = ".tmp"

// locks holds the open folders of [TempFolder], by path.
var locks sync.Map

// TempFolder creates a folder in dir, or in the system's temporary folder if dir is "", with a name
// that begins with prefix. It stays locked while this program runs, so [SweepTemp] in other
// programs does not remove it. The caller must remove it with [RemoveTemp].
func TempFolder(dir, prefix string) (_ string, err error) {
	for range 3 { // a sweep may take it before it is locked
		path, makeErr := os.MkdirTemp(dir, prefix+"*"+tempSuffix)
		if makeErr != nil {
			return "", makeErr
		}
		var f *os.File
		if f, err = lockFolder(path); err == nil {
			locks.Store(path, f)
			return path, nil
		}
	}
	return "", err
}

// RemoveTemp is [RemoveFolder] for a folder of [TempFolder].
func RemoveTemp(path string) error {
	err := RemoveFolder(path)
	if f, ok := locks.LoadAndDelete(path); ok {
		_ = f.(*os.File).Close() // a folder has nothing to flush
	}
	return err
}

// SweepTemp removes the folders of [TempFolder] that killed programs left in dir, or in the
// system's temporary folder if dir is "". It follows no links, skips locked folders and ignores
// errors: the next sweep tries again.
func SweepTemp(dir, prefix string) {
	if dir == "" {
		dir = os.TempDir()
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	names, _ := namesIn(root) // as many as could be read
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, tempSuffix) {
			continue
		}
		f, err := lockFolder(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && ownedByMe(info) {
			_ = RemoveFolderIn(root, name)
		}
		_ = f.Close() // a folder has nothing to flush
	}
}

// lockFolder opens and locks the folder at path, or fails if it is locked. Closing the file unlocks
// the folder, and so does the end of this program, even if it is killed.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path,
		os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	err = lock(f)
	there, lstatErr := os.Lstat(path)
	is, statErr := f.Stat()
	if err == nil && (cmp.Or(lstatErr, statErr) != nil || !os.SameFile(there, is)) {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, f.Close())
	}
	return f, nil
}

// ErrLocked is wrapped by the error of [Lock] for a file that another process has locked.
var ErrLocked = errors.New("another dsstar is at work there")

// Lock locks a file that belongs to this program, and creates it if necessary, until release is
// called or the program ends. The file must not be replaced.
func Lock(path string) (release func(), err error) {
	f, err := openOwn(path, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	return err
}

// Free returns how many bytes this program may still write to the file system of folder.
func Free(folder string) (int64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	return int64(s.Bavail) * int64(s.Bsize), err
}

package disk

import (
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
func TempFolder(dir, prefix string) (string, error) {
	unlocked, err := os.MkdirTemp(dir, prefix+"*") // SweepTemp skips it: the suffix is missing
	if err != nil {
		return "", err
	}
	f, err := lockFolder(unlocked)
	if err != nil {
		return "", errors.Join(err, os.Remove(unlocked))
	}
	path := unlocked + tempSuffix
	if err := os.Rename(unlocked, path); err != nil {
		return "", errors.Join(err, f.Close(), os.Remove(unlocked))
	}
	locks.Store(path, f)
	return path, nil
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
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, tempSuffix) {
			sweep(root, name)
		}
	}
}

// sweep removes the folder name in root if it is this user's and not locked. The folder stays
// itself until it is empty.
func sweep(root *os.Root, name string) {
	f, err := lockFolder(filepath.Join(root.Name(), name))
	if err != nil {
		return
	}
	defer f.Close()
	info, err := root.Lstat(name)
	if err == nil && ownedByMe(info) && isAt(info, f) && EmptyFolderIn(root, name) == nil {
		_ = root.Remove(name)
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
	if there, e := os.Lstat(path); err == nil && (e != nil || !isAt(there, f)) {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, f.Close())
	}
	return f, nil
}

// isAt reports whether a file is the one that info describes.
func isAt(info fs.FileInfo, f *os.File) bool {
	is, err := f.Stat()
	return err == nil && os.SameFile(info, is)
}

// ErrLocked is wrapped by the error of [Lock] for a file that another process has locked.
var ErrLocked = errors.New("another dsstar is at work there")

// Lock locks a file that belongs to this program, and creates it if necessary, until release is
// called or the program ends. The file must not be replaced.
func Lock(path string) (release func(), err error) {
	f, err := openOwn(path, os.O_RDWR|os.O_CREATE, 0o644)
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

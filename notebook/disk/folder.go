package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Errors that are wrapped in errors with a path.
var (
	// something else, perhaps put there by a cell, has replaced a folder
	errReplaced = errors.New("it has been replaced by something else")
	// others may use it, or may have made it
	errNotPrivate = errors.New("it is a link, another user's or open to others")
)

// in calls do with the folder of a path, which is opened for that, and the name in it.
func in(path string, do func(folder *os.Root, name string) error) error {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(folder, filepath.Base(path))
}

func isPrivate(info fs.FileInfo) bool { return ownedByMe(info) && info.Mode().Perm()&0o077 == 0 }

func ownedByMe(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// OpenFolder opens the folder at path, which cells may have replaced. A link or a pipe there is an
// error: OpenFolder does not follow or wait.
func OpenFolder(path string) (opened *os.Root, err error) {
	err = in(path, func(parent *os.Root, name string) (err error) {
		opened, err = openFolderIn(parent, name)
		return err
	})
	return opened, err
}

func openFolderIn(parent *os.Root, name string) (*os.Root, error) {
	is, err := parent.Lstat(name)
	if err == nil && !is.IsDir() {
		err = &fs.PathError{Op: "open", Path: filepath.Join(parent.Name(), name), Err: errReplaced}
	}
	if err != nil {
		return nil, err
	}
	// without the dot, opening would block if a pipe has replaced the folder by now
	root, err := parent.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	// a link may have replaced the folder since Lstat
	if opened, err := root.Stat("."); err != nil || !os.SameFile(is, opened) {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: root.Name(), Err: errReplaced}, err,
			root.Close())
	}
	return root, nil
}

// EmptyFolder removes everything in the folder at path, or creates the folder. Links in it or in its
// place are removed, never followed. parent, if it is not nil, is open on the folder that path must
// still be in.
func EmptyFolder(path string, parent *os.Root) error {
	if parent == nil {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
	}
	return in(path, func(folder *os.Root, name string) error {
		if parent != nil {
			is, err := folder.Stat(".")
			was, wasErr := parent.Stat(".")
			if cmp.Or(err, wasErr) != nil || !os.SameFile(is, was) {
				return fmt.Errorf("%s has been replaced by another folder", filepath.Dir(path))
			}
		}
		if info, err := folder.Lstat(name); err == nil && !info.IsDir() {
			if err := folder.Remove(name); err != nil {
				return err
			}
		}
		if err := folder.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return clear(folder, name)
	})
}

// RemoveFolder removes the folder at path, to which cells may have written, with everything in it.
// A missing folder is no error.
func RemoveFolder(path string) error {
	if err := in(path, RemoveFolderIn); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveFolderIn is [RemoveFolder] for the folder name directly in root.
func RemoveFolderIn(root *os.Root, name string) error {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		_ = root.Chmod(name, 0o700) // if this fails, so does the next step
		if err := clear(root, name); err != nil {
			return err
		}
	}
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// clear removes everything in the folder name directly in root.
func clear(root *os.Root, name string) error {
	folder, err := openFolderIn(root, name)
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := namesIn(folder)
	for _, inner := range names {
		err = errors.Join(err, RemoveFolderIn(folder, inner))
	}
	return err
}

func namesIn(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

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
	dir = cmp.Or(dir, os.TempDir())
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

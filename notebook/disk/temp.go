package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// tempSuffix ends the names of folders that are locked as long as their program lives.
const tempSuffix = ".tmp"

// locks are the open folders of [TempFolder], by path.
var locks sync.Map

// TempFolder creates a folder in dir, or in the system's temporary folder if dir is "", with a name
// that begins with prefix. It is locked as long as this program lives, so that [SweepTemp] of other
// programs leaves it alone. The caller removes it with [RemoveTemp].
func TempFolder(dir, prefix string) (string, error) {
	for {
		path, err := os.MkdirTemp(dir, prefix+"*"+tempSuffix)
		if err != nil {
			return "", err
		}
		f, err := lockFolder(path)
		if err == nil {
			locks.Store(path, f)
			return path, nil
		}
		if _, there := os.Lstat(path); there == nil { // otherwise a SweepTemp was faster
			_ = os.Remove(path)
			return "", err
		}
	}
}

// RemoveTemp is [RemoveFolder] for a folder of [TempFolder].
func RemoveTemp(path string) error {
	err := RemoveFolder(path)
	if f, ok := locks.LoadAndDelete(path); ok {
		_ = f.(*os.File).Close() // nothing was written
	}
	return err
}

// SweepTemp removes the folders of [TempFolder] in dir, "" for the system's temporary folder, that
// killed programs have left, and folders older than an hour whose names begin with one of brief. It
// follows no links and skips locked folders.
func SweepTemp(dir, prefix string, brief ...string) {
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
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if begins(prefix) && strings.HasSuffix(name, tempSuffix) {
			sweep(root, name, 0)
		} else if slices.ContainsFunc(brief, begins) {
			sweep(root, name, time.Hour)
		}
	}
}

// sweep removes the folder name in root if it is not locked and old enough. Errors are left to the
// next sweep.
func sweep(root *os.Root, name string, age time.Duration) {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() || !ownedByMe(info) || time.Since(info.ModTime()) < age {
		return
	}
	f, err := lockFolder(filepath.Join(root.Name(), name))
	if err != nil {
		return
	}
	defer f.Close()
	if locked, err := f.Stat(); err != nil || !os.SameFile(info, locked) {
		return
	}
	if EmptyFolderIn(root, name) == nil {
		_ = root.Remove(name)
	}
}

// sameAt reports whether the folder f is still at path.
func sameAt(path string, f *os.File) bool {
	there, err := os.Lstat(path)
	is, e := f.Stat()
	return err == nil && e == nil && os.SameFile(there, is) && there.Mode().Type() == fs.ModeDir
}

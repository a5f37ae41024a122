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

// tempSuffix ends the names of folders that are locked while their program lives.
const tempSuffix = ".tmp"

// locks are the open folders of [TempFolder], by path.
var locks sync.Map

// TempFolder makes a new folder in dir, "" for the system's for temporary files, whose name begins
// with prefix. It is held as long as this program lives, so that [SweepTemp] of another one can
// tell that it is in use. The caller removes it with [RemoveTemp].
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
		if _, there := os.Lstat(path); there == nil { // else a SweepTemp was faster
			_ = os.Remove(path)
			return "", err
		}
	}
}

// RemoveTemp is [RemoveFolder] for what TempFolder made.
func RemoveTemp(path string) error {
	err := RemoveFolder(path)
	if f, ok := locks.LoadAndDelete(path); ok {
		_ = f.(*os.File).Close() // nothing was written
	}
	return err
}

// SweepTemp removes what programs that were killed have left of TempFolder in dir, "" for the
// system's folder for temporary files. It follows no links, and leaves alone what is held. Folders
// whose names begin with one of brief are never in use for an hour.
func SweepTemp(dir, prefix string, brief ...string) {
	if dir == "" {
		dir = os.TempDir()
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	names, _ := namesIn(root) // those that it could read
	for _, name := range names {
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if begins(prefix) && strings.HasSuffix(name, tempSuffix) {
			sweep(root, name, 0)
		} else if slices.ContainsFunc(brief, begins) {
			sweep(root, name, time.Hour)
		}
	}
}

// sweep removes the folder name in root if nobody holds it and it is old enough. What does not work
// is for the next time.
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

// sameAt reports whether the folder f is what is at path.
func sameAt(path string, f *os.File) bool {
	there, err := os.Lstat(path)
	is, e := f.Stat()
	return err == nil && e == nil && os.SameFile(there, is) && there.Mode().Type() == fs.ModeDir
}

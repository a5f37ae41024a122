package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
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
// system's temporary folder if dir is "". It also removes folders there that are older than an
// hour and whose names begin with one of brief. It follows no links and skips locked folders.
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

// sweep removes the folder name in root if it is old enough and not locked. It ignores errors: the
// next sweep tries again.
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

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrWritable is in the error about data in a folder that cells may write.
var ErrWritable = errors.New("cells could change it")

// kept returns those of read, real paths, that are in a folder of b.Write. They can be kept as they are by a mount alone:
// without one, it is an error for those of b.Read. A folder that is itself in b.Write was given to the cells by its name.
func (b Box) kept(read []string) (all []string, err error) {
	given, err := folders(b.Write)
	if err != nil {
		return nil, err
	}
	for _, path := range read {
		at := slices.IndexFunc(given, func(folder string) bool { return in(path, folder) })
		if at < 0 || slices.Contains(given, path) {
			continue
		}
		named := slices.ContainsFunc(b.Read, func(p string) bool { real, err := realPath(p); return err == nil && real == path })
		if b.Tier != Full && named {
			return nil, fmt.Errorf("%w: %s is in %s, all of which they may write; the sandbox %s has no mounts to keep it from them", ErrWritable, path, b.Write[at], b.Tier)
		}
		all = append(all, path)
	}
	return all, nil
}

// A search for sockets ends with an error after this much.
const (
	mostEntries = 2_000_000
	longestWalk = 20 * time.Second
)

// sockets returns the Unix sockets in the folders that cells read or write, where services may listen: that a mount is
// read-only keeps nobody from connecting. Those of the session itself are not looked at. needs is what the program reads.
func (b Box) sockets(needs []string) ([]string, error) {
	w := newWalk()
	for _, path := range needs {
		if err := w.installation(path); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Concat(b.Read, b.Write) {
		if err := w.folder(path); err != nil {
			return nil, err
		}
	}
	slices.Sort(w.found)
	return slices.Compact(w.found), nil
}

// A walk goes through folders for sockets, until it has seen too much.
type walk struct {
	found []string
	left  int
	until time.Time
}

func newWalk() *walk { return &walk{left: mostEntries, until: time.Now().Add(longestWalk)} }

// installations remembers the sockets of a Python's folders: they are many files, and dsstar's life is short.
var installations sync.Map // of a path to a func() ([]string, error)

// installation is folder for what programs are made of. The system's own is full of files, and not for sockets.
func (w *walk) installation(path string) error {
	if real, err := realPath(path); err != nil || slices.ContainsFunc([]string{"/usr", "/opt"}, func(top string) bool { return in(real, top) }) {
		return nil
	}
	look, _ := installations.LoadOrStore(path, sync.OnceValues(func() ([]string, error) {
		inside := newWalk()
		err := inside.folder(path)
		return inside.found, err
	}))
	found, err := look.(func() ([]string, error))()
	w.found = append(w.found, found...)
	return err
}

// folder finds the sockets in a folder, or that a path is one.
func (w *walk) folder(path string) error {
	real, err := realPath(path)
	if err != nil {
		return nil // it is not there, and so not in the sandbox
	}
	return filepath.WalkDir(real, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone, or is not for this user
		}
		if e.Type()&fs.ModeSocket != 0 {
			w.found = append(w.found, file)
		}
		if w.left--; w.left < 0 || w.left%1024 == 0 && time.Now().After(w.until) {
			return fmt.Errorf("%w: other programs may listen on sockets in %s, which has too many files to look for them; the sandbox builtin closes all sockets", ErrExposed, strings.TrimSuffix(path, "/"))
		}
		return nil
	})
}

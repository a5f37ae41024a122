package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
)

// ErrReplaced is in the error about a folder or file in whose place something else has been put
// since it was first used.
var ErrReplaced = errors.New("it has been replaced since the first session")

// pins remembers where paths led when they were first used, before any cell could change that.
var pins sync.Map

// pin returns where path leads. It is an error if the path led elsewhere before: cells that have
// run meanwhile may have put a link there. A path that leads nowhere yet may only come to be
// where it is missing.
func pin(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, _ := behind(abs)
	if first, _ := pins.LoadOrStore(abs, real); first != real {
		return "", fmt.Errorf("%s: %w: it leads to %s now", path, ErrReplaced, real)
	}
	return real, nil
}

// A mark is which file a path without links is: its device and inode.
type mark [2]uint64

// marks returns those of the paths that are there.
func marks(paths []string) (map[string]mark, error) {
	all := map[string]mark{}
	for _, path := range paths {
		m, there, err := markOf(path)
		if err != nil {
			return nil, err
		}
		if there {
			all[path] = m
		}
	}
	return all, nil
}

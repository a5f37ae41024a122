package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
)

// ErrReplaced is wrapped by errors about a folder or file that was replaced after its first use.
var ErrReplaced = errors.New("it has been replaced since the first session")

// pins maps absolute paths to their real paths at first use, before any cell could change them.
var pins sync.Map

// pin returns the real path of path. If that has changed since first use, it returns an error: a
// cell may have put a link there. For a path that does not exist yet, it returns where it would be.
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

// An inode identifies a file: its device and inode.
type inode [2]uint64

//go:build !unix

package disk

import (
	"errors"
	"io/fs"
	"os"
)

// lockFolder opens the folder at path. This system has no locks, so nothing is swept.
func lockFolder(path string) (*os.File, error) { return os.Open(path) }

func ownedByMe(fs.FileInfo) bool { return false }

// Free is not known on this system.
func Free(string) (int64, error) { return 0, errors.ErrUnsupported }

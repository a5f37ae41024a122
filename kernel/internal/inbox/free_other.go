//go:build !linux

package inbox

import (
	"errors"
	"os"
)

// freeUpTo is an error: only Linux frees a part of a file.
func freeUpTo(*os.File, int64) error { return errors.ErrUnsupported }

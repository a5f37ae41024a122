//go:build !linux

package inbox

import (
	"errors"
	"os"
)

// freeUpTo returns an error: only on Linux can a part of a file be freed.
func freeUpTo(*os.File, int64) error { return errors.ErrUnsupported }

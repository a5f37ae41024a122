//go:build !linux

package disk

import (
	"errors"
	"os"
)

// exchange swaps what two names in a folder are, at once; not here.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

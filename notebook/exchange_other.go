//go:build !linux

package notebook

import "errors"

// exchange swaps what two names are, at once; not here.
func exchange(string, string) error { return errors.ErrUnsupported }

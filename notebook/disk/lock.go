package disk

import (
	"errors"
	"fmt"

	"github.com/gofrs/flock"
)

// ErrLocked is wrapped by the error of [Lock] for a file that another process has locked.
var ErrLocked = errors.New("another dsstar is at work there")

// Lock locks a file that belongs to this program, and creates it if necessary, until release is called
// or the program ends. The file must not be replaced.
func Lock(path string) (release func(), err error) {
	if err := CheckOwn(path); err != nil { // locking would follow a link, or wait for a pipe
		return nil, err
	}
	lock := flock.New(path, flock.SetPermissions(0o644))
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = ErrLocked
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = lock.Unlock() }, nil
}

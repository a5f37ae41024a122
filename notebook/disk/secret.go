package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Secret returns the n random bytes of the file at path, which only this user can read. Secret makes
// the file if it is missing, whole and once, also if several programs do so at the same time. Anything
// else in its place is an error: a link, another user's file, one that others can read, another size.
func Secret(path string, n int) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	name := filepath.Base(path)
	if _, err := folder.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(folder, name, n); err != nil {
			return nil, err
		}
	}
	if err := CheckOwn(path); err != nil {
		return nil, err
	}
	f, err := OpenIn(folder, name, int64(n))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!ownedByMe(info) || info.Mode().Perm()&0o077 != 0 || info.Size() != int64(n)) {
		err = &fs.PathError{Op: "read", Path: path,
			Err: fmt.Errorf("it is not this user's alone, or has no %d bytes", n)}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// makeSecret makes a file of n random bytes, unless there is one by now.
func makeSecret(folder *os.Root, name string, n int) error {
	secret := make([]byte, n)
	_, _ = rand.Read(secret) // never fails
	temporary, err := writeBeside(folder, name, secret, 0o600)
	if err != nil {
		return err
	}
	if err = place(folder, temporary, name); errors.Is(err, fs.ErrExist) {
		err = nil // another program was faster
	}
	_ = folder.Remove(temporary) // after a rename there is nothing to remove
	return err
}

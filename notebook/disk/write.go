package disk

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes data to path, whole or not at all: it writes, syncs and renames a temporary file
// in the same folder. It does not touch a file that already has this content, and keeps the
// permissions of a file that it replaces. It replaces a link at path and does not follow it.
func WriteFile(path string, data []byte) error {
	return in(path, func(folder *os.Root, name string) error {
		return WriteFileIn(folder, name, data)
	})
}

// WriteFileIn is [WriteFile] for the file name below folder.
func WriteFileIn(folder *os.Root, name string, data []byte) error {
	old, err := ReadIn(folder, name, int64(len(data)))
	if err == nil && bytes.Equal(old, data) {
		return nil
	}
	temporary, err := writeBeside(folder, name, data, 0o644)
	if err != nil {
		return err
	}
	if err := folder.Rename(temporary, name); err != nil {
		return errors.Join(err, folder.Remove(temporary))
	}
	return nil
}

// writeBeside writes data to a new file beside the file name below folder, and returns its name. It
// has the permissions of that file, or mode if there is none.
func writeBeside(folder *os.Root, name string, data []byte, mode fs.FileMode) (string, error) {
	made := mode
	if info, err := folder.Lstat(name); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	dir, base := filepath.Split(name)
	temporary := dir + "." + base + "." + rand.Text()[:8]
	f, err := folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, made)
	if err != nil {
		return "", &fs.PathError{Op: "write", Path: filepath.Join(folder.Name(), name), Err: Cause(err)}
	}
	_, err = f.Write(data)
	if err == nil && mode != made {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, folder.Remove(temporary))
	}
	return temporary, nil
}

// place gives the file temporary in folder its final name. If there is a file of that name already,
// the error wraps [fs.ErrExist].
func place(folder *os.Root, temporary, name string) error {
	err := folder.Link(temporary, name)
	if err == nil || errors.Is(err, fs.ErrNotExist) { // done, or the folder is gone
		return err
	}
	if _, there := folder.Lstat(name); !errors.Is(there, fs.ErrNotExist) {
		return &fs.PathError{Op: "write", Path: filepath.Join(folder.Name(), name), Err: fs.ErrExist}
	}
	return folder.Rename(temporary, name) // the file system has no hard links
}

// Secret returns the n random bytes of the file at path, which only this user can read. Secret
// makes the file if it is missing, whole and once, also if several programs do so at the same time.
// Anything else in its place is an error: a link, another user's file, one that others can read,
// another size.
func Secret(path string, n int) (secret []byte, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	err = in(path, func(folder *os.Root, name string) error {
		if _, err := folder.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			if err := makeSecret(folder, name, n); err != nil {
				return err
			}
		}
		f, err := OpenPlainIn(folder, name, int64(n))
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat() // of the file that is read
		if err == nil && (!isPrivate(info) || info.Size() != int64(n)) {
			err = &fs.PathError{Op: "read", Path: path, Err: errNotPrivate}
		}
		if err == nil {
			secret, err = io.ReadAll(f)
		}
		return err
	})
	return secret, err
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

package disk

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// Errors that those of this package wrap.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLong    = errors.New("the file is too long")
)

// Limits for reading files, in bytes.
const (
	MaxText     = 1 << 20   // settings, guidelines and the like
	MaxDocument = 128 << 20 // notebooks, traces, lists of tasks
)

// ReadFile reads a regular file. A file of more than most bytes is an error. It follows links.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	f, err = checked(f, path, most, err)
	return readAll(f, most, err)
}

// OpenPlain opens a regular file for reading, as [ReadFile] does, but a link at path is an error, as
// a stranger may have put it there. The caller must close the file.
func OpenPlain(path string, most int64) (f *os.File, err error) {
	err = in(path, func(folder *os.Root, name string) (err error) {
		f, err = OpenPlainIn(folder, name, most)
		return err
	})
	return f, err
}

// OpenPlainIn is [OpenPlain] for a file below folder. A link that leads out of folder is an error,
// too.
func OpenPlainIn(folder *os.Root, name string, most int64) (*os.File, error) {
	return openIn(folder, name, os.O_RDONLY, 0, most)
}

// ReadPlain is [ReadFile], but a link at path is an error.
func ReadPlain(path string, most int64) ([]byte, error) {
	f, err := OpenPlain(path, most)
	return readAll(f, most, err)
}

// ReadIn is [ReadPlain] for a file below folder. A link that leads out of folder is an error, too.
func ReadIn(folder *os.Root, name string, most int64) ([]byte, error) {
	f, err := OpenPlainIn(folder, name, most)
	return readAll(f, most, err)
}

// openOwn opens a file that belongs to this program, and creates it if necessary. Anything else in
// its place, such as a link, is an error. The caller must close the file.
func openOwn(path string, flag int) (f *os.File, err error) {
	err = in(path, func(folder *os.Root, name string) (err error) {
		f, err = openIn(folder, name, os.O_RDWR|os.O_CREATE|flag, 0o644, math.MaxInt64)
		return err
	})
	return f, err
}

// openIn opens a file below folder. Something else in its place is an error.
func openIn(folder *os.Root, name string, flag int, perm fs.FileMode, most int64) (*os.File, error) {
	path := filepath.Join(folder.Name(), name)
	info, err := folder.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := folder.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	return checked(f, path, most, err)
}

func readAll(f *os.File, most int64, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most)) // it may have grown
}

// checked returns f, or closes it and returns an error if it is not regular or too long.
func checked(f *os.File, path string, most int64, err error) (*os.File, error) {
	if errors.Is(err, syscall.ENXIO) { // a socket
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	case info.Size() > most:
		err = &fs.PathError{Op: "read", Path: path, Err: ErrTooLong}
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// Package disk reads and writes files in folders that untrusted code may write to.
//
//   - Reading ([ReadFile], [ReadPlain]) accepts only regular files up to a size, so it never blocks on
//     a pipe and never reads an endless device.
//   - Writing ([WriteFile], [Guard]) replaces a file whole or not at all, and never through a link.
//     A [Guarded] file is never overwritten after somebody else has edited it.
//   - Folders ([OpenFolder], [EmptyFolder], [RemoveFolder]) are opened once and accessed through
//     that descriptor, so a link that replaces them is not followed.
//   - Temporary folders ([TempFolder]) are locked while their program lives; [SweepTemp] removes
//     those of programs that were killed.
package disk

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
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
	f, err := open(path, os.O_RDONLY, most)
	return readAll(f, most, err)
}

// OpenPlain opens a regular file for reading, as [ReadFile] does, but a link at path is an error, as
// a stranger may have put it there. The caller must close the file.
func OpenPlain(path string, most int64) (*os.File, error) {
	return open(path, os.O_RDONLY|syscall.O_NOFOLLOW, most)
}

// OpenPlainIn is [OpenPlain] for a file below folder. A link that leads out of folder is an error,
// too.
func OpenPlainIn(folder *os.Root, name string, most int64) (*os.File, error) {
	path := filepath.Join(folder.Name(), name)
	info, err := folder.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return checked(f, path, most, err)
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
func openOwn(path string, flag int) (*os.File, error) {
	return open(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|flag, math.MaxInt64)
}

func open(path string, flag int, most int64) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0o644)
	return checked(f, path, most, err)
}

func readAll(f *os.File, most int64, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most)) // it may have grown
}

// irregular are the errors of opening a link, a folder, and a socket on Linux and macOS.
var irregular = []error{syscall.ELOOP, syscall.EISDIR, syscall.ENXIO, syscall.EOPNOTSUPP}

// checked returns f, or closes it and returns an error if it is not regular or too long.
func checked(f *os.File, path string, most int64, err error) (*os.File, error) {
	if slices.ContainsFunc(irregular, func(e error) bool { return errors.Is(err, e) }) {
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
	if err = cmp.Or(err, f.Sync(), f.Close()); err != nil {
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

// Lines is a file of plain data in JSON, a line for each, to which lines are added. Its methods may
// be called concurrently.
type Lines struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of the complete lines
}

// longestLine bounds the end of a file in which the last complete line is looked for, in bytes.
const longestLine = 16 << 20

// OpenLines opens a file of lines that belongs to this program, and creates it if necessary. An
// incomplete last line, from a crash, is removed; a file that ends with more than longestLine bytes
// without a line is an error. The caller must Close it.
func OpenLines(path string) (*Lines, error) {
	f, err := openOwn(path, os.O_APPEND)
	if err != nil {
		return nil, err
	}
	l := &Lines{file: f}
	if err := l.cut(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// cut removes an incomplete last line.
func (l *Lines) cut() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	end := make([]byte, min(info.Size(), longestLine))
	before := info.Size() - int64(len(end))
	if _, err := l.file.ReadAt(end, before); err != nil {
		return err
	}
	last := bytes.LastIndexByte(end, '\n') + 1
	if last == 0 && before > 0 {
		return &os.PathError{Op: "open", Path: l.file.Name(), Err: ErrTooLong}
	}
	l.size = before + int64(last)
	return l.file.Truncate(l.size)
}

// Append adds a line, which is on disk when it returns. A partial write is undone.
func (l *Lines) Append(data any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.file.Write(line.Bytes())
	if err = cmp.Or(err, l.file.Sync()); err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(line.Len())
	return nil
}

// Close closes the file. Append fails afterwards; a second Close does nothing.
func (l *Lines) Close() error {
	if err := l.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// ReadLines reads the lines of such a file. Empty lines are skipped, and so is an incomplete last
// one; any other that cannot be read is an error.
func ReadLines[T any](text []byte) (all []T, err error) {
	n := 0
	for line := range bytes.Lines(text) {
		var data T
		n++
		switch err := json.Unmarshal(line, &data); {
		case err == nil:
			all = append(all, data)
		case bytes.HasSuffix(line, []byte("\n")) && len(bytes.TrimSpace(line)) > 0:
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return all, nil
}

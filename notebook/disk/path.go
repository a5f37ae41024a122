package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LookPath returns all programs with that name in the folders of path, which has the form of PATH,
// in order. It skips relative folders, because the current folder may contain a stranger's files.
func LookPath(name, path string) (all []string) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		program := filepath.Join(dir, name)
		info, err := os.Stat(program)
		if err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			all = append(all, program)
		}
	}
	return all
}

// Getenv returns the last value of key, as the operating system would; "" if there is none.
func Getenv(env []string, key string) string {
	for _, entry := range slices.Backward(env) {
		if value, is := strings.CutPrefix(entry, key+"="); is {
			return value
		}
	}
	return ""
}

// Inside reports whether path is folder or below it. Both must be real paths.
func Inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// RealPath returns path with its links resolved, or path itself if it does not exist.
func RealPath(path string) string {
	real, _ := filepath.EvalSymlinks(path)
	return cmp.Or(real, path)
}

// Absolute returns the absolute path, or path itself if the current folder is gone.
func Absolute(path string) string {
	abs, _ := filepath.Abs(path)
	return cmp.Or(abs, path)
}

// Exists reports whether a path leads to something.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Existing returns the absolute path, or that of its nearest ancestor that exists.
func Existing(path string) string {
	for path = Absolute(path); ; path = filepath.Dir(path) {
		if Exists(path) || path == filepath.Dir(path) {
			return path
		}
	}
}

// CheckWritable returns an error if nothing can be written to a folder, or if it is missing and
// cannot be made.
func CheckWritable(dir string) error {
	there := Existing(dir)
	probe, err := os.MkdirTemp(there, ".dsstar-")
	if err = cmp.Or(err, os.Remove(probe)); err != nil {
		return fmt.Errorf("%s: nothing can be written to %s: %w", dir, there, Cause(err))
	}
	return nil
}

// Cause strips the operation and the path from an error.
func Cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

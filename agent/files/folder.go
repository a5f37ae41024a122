package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dsstar/notebook/disk"
)

// A Folder is a data folder, or a single file, whose name in it is ".".
type Folder struct {
	real string   // its path without links
	also []string // real paths of the allowed targets of links
}

// ErrOutside is wrapped by the error for a link out of the data folder that is not allowed.
var ErrOutside = errors.New("it is a link that leads out of the data folder")

// In returns the data folder at path, which may be missing. Links in it may lead to the files and
// folders in also.
func In(path string, also ...string) Folder {
	d := Folder{real: realPath(path)}
	for _, p := range also {
		d.also = append(d.also, realPath(p))
	}
	return d
}

func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return disk.RealPath(path)
}

// Find returns the path of a file without links. The error wraps [ErrOutside] or comes from the file
// system.
func (d Folder) Find(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("look at %s: %w", name, errors.ErrUnsupported)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(d.real, name))
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", name, err)
	}
	for _, allowed := range d.allowed() {
		if disk.Inside(allowed, real) {
			return real, nil
		}
	}
	return "", fmt.Errorf("look at %s: %w", name, ErrOutside)
}

func (d Folder) allowed() []string { return append([]string{d.real}, d.also...) }

// open opens a file at a path that [Folder.Find] has given, or a companion beside it. What somebody has
// put in the place of a folder since leads nowhere else. The caller closes the file.
func (d Folder) open(at string) (*os.File, error) {
	for _, allowed := range d.allowed() {
		way, err := filepath.Rel(allowed, at)
		if err != nil || way == "." || !filepath.IsLocal(way) {
			continue
		}
		root, err := os.OpenRoot(allowed)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return disk.OpenPlainIn(root, way, 1<<62)
	}
	return disk.OpenPlain(at, 1<<62) // the file is named itself
}

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dsstar/notebook/disk"
)

// A Folder is an open data folder.
type Folder struct {
	root *os.Root
	real string   // its path without links
	also []string // real paths of the allowed targets of links
}

// An OutsideError reports a link to a file outside the data folder that is not allowed.
type OutsideError struct {
	Name   string // of the link, below the folder
	Target string // the file, by its real path
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("look at %s: it is a link to %s, out of the data folder", e.Name, e.Target)
}

// Open opens the data folder at path. Links in it may lead to the files and folders in also;
// missing ones are ignored. The caller must Close the Folder.
func Open(path string, also []string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	d := &Folder{root: root, real: realPath(path)}
	for _, p := range also {
		d.also = append(d.also, realPath(p))
	}
	return d, nil
}

// Close closes the folder.
func (d *Folder) Close() error { return d.root.Close() }

func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return disk.RealPath(path)
}

// open opens a file for reading. The caller closes it.
func (d *Folder) open(f File) (*os.File, fs.FileInfo, error) {
	file, err := d.follow(f.Name)
	if err == nil {
		var info fs.FileInfo
		if info, err = file.Stat(); err == nil {
			return file, info, nil
		}
		err = errors.Join(err, file.Close())
	}
	if _, outside := errors.AsType[*OutsideError](err); !outside {
		err = fmt.Errorf("look at %s: %w", f.Name, err)
	}
	return nil, nil, err
}

// follow opens a regular file, or the target of a link. By itself, an [os.Root] follows only
// relative links within the folder.
func (d *Folder) follow(name string) (*os.File, error) {
	file, err := disk.OpenIn(d.root, name, 1<<62)
	path := filepath.Join(d.real, name)
	target := disk.RealPath(path)
	if err == nil || target == path {
		return file, err
	}
	if below, ok := relative(d.real, target); ok {
		return disk.OpenIn(d.root, below, 1<<62)
	}
	for _, p := range d.also {
		if disk.Inside(p, target) {
			return disk.OpenPlain(target, 1<<62)
		}
	}
	return nil, &OutsideError{name, target}
}

// relative returns path relative to folder; ok is false if it is outside.
func relative(folder, path string) (way string, ok bool) {
	way, err := filepath.Rel(folder, path)
	return way, err == nil && filepath.IsLocal(way)
}

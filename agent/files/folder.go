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

// errIrregular reports a file that became a folder or a pipe after it was listed.
var errIrregular = errors.New("not a regular file")

// Open opens the data folder at path. Links in it may lead to the files and folders in also;
// missing ones are ignored. The caller must Close the Folder.
func Open(path string, also []string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	real, err := realPath(path)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	d := &Folder{root: root, real: real}
	for _, p := range also {
		if p, err := realPath(p); err == nil {
			d.also = append(d.also, p)
		}
	}
	return d, nil
}

// Close closes the folder.
func (d *Folder) Close() error { return d.root.Close() }

func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// open opens a file for reading. The caller closes it.
func (d *Folder) open(f File) (*os.File, fs.FileInfo, error) {
	file, info, err := d.follow(f.Name)
	if _, outside := errors.AsType[*OutsideError](err); err != nil && !outside {
		err = fmt.Errorf("look at %s: %w", f.Name, err)
	}
	return file, info, err
}

// follow opens a file, or the target of a link. By itself, an [os.Root] follows only relative
// links within the folder.
func (d *Folder) follow(name string) (*os.File, fs.FileInfo, error) {
	file, info, err := openRegular(d.root, name)
	if err == nil {
		return file, info, nil
	}
	path := filepath.Join(d.real, name)
	target, unlinked := filepath.EvalSymlinks(path)
	if unlinked != nil || target == path {
		return nil, nil, err
	}
	if below, ok := relative(d.real, target); ok {
		return openRegular(d.root, below)
	}
	for _, p := range d.also {
		if _, ok := relative(p, target); ok {
			parent, err := os.OpenRoot(filepath.Dir(target))
			if err != nil {
				return nil, nil, err
			}
			defer parent.Close()
			return openRegular(parent, filepath.Base(target))
		}
	}
	return nil, nil, &OutsideError{name, target}
}

// relative returns path relative to folder; ok is false if it is outside.
func relative(folder, path string) (way string, ok bool) {
	way, err := filepath.Rel(folder, path)
	return way, err == nil && filepath.IsLocal(way)
}

func openRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // checked before opening: opening a pipe blocks
		return nil, nil, errIrregular
	}
	file, err := disk.OpenIn(root, name, 1<<62)
	return file, info, err
}

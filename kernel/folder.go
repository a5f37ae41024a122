package kernel

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// errReplaced is that a folder is not what it was: cells can put something else in its place.
var errReplaced = errors.New("it has been replaced by something else")

// openFolder opens the folder at path, which cells may have replaced. A link in its place is not followed, and a pipe
// not waited for: both are errors.
func openFolder(path string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return folderIn(parent, filepath.Base(path))
}

// makeFolder is openFolder, but makes the folder if it is missing. What is in its place and no folder, it removes.
func makeFolder(path string) (*os.Root, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	name := filepath.Base(path)
	if info, err := parent.Lstat(name); err == nil && !info.IsDir() {
		if err := parent.Remove(name); err != nil {
			return nil, err
		}
	}
	if err := parent.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return folderIn(parent, name)
}

// folderIn opens the folder name directly in parent.
func folderIn(parent *os.Root, name string) (*os.Root, error) {
	is, err := parent.Lstat(name)
	if err == nil && !is.IsDir() {
		err = &fs.PathError{Op: "open", Path: filepath.Join(parent.Name(), name), Err: errReplaced}
	}
	if err != nil {
		return nil, err
	}
	root, err := parent.OpenRoot(name + "/.") // without the dot it would wait, should it be a pipe by now
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(is, opened) { // by now it was a link
		return nil, errors.Join(&fs.PathError{Op: "open", Path: root.Name(), Err: errReplaced}, err, root.Close())
	}
	return root, nil
}

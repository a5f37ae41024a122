package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errReplaced means that something else, perhaps put there by a cell, has replaced a folder.
var errReplaced = errors.New("it has been replaced by something else")

// errNotPrivate means that others may use a folder, or may have made it.
var errNotPrivate = errors.New("it is a link, another user's or open to others")

// PrivateFolder makes a folder that only this user may use. One that is there already must be such a
// folder.
func PrivateFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && (!info.IsDir() || !ownedByMe(info) || info.Mode().Perm()&0o077 != 0) {
		err = &fs.PathError{Op: "use", Path: path, Err: errNotPrivate}
	}
	return err
}

// OpenFolder opens the folder at path, which cells may have replaced. A link or a pipe there is an
// error: OpenFolder does not follow or wait.
func OpenFolder(path string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return OpenFolderIn(parent, filepath.Base(path))
}

// LeadsTo returns an error unless path leads to the folder that held is open on.
func LeadsTo(path string, held *os.Root) error {
	there, err := os.Stat(path)
	if err != nil {
		return err
	}
	ours, err := held.Stat(".")
	if err == nil && !os.SameFile(there, ours) {
		err = fmt.Errorf("%s has been replaced by another folder", path)
	}
	return err
}

// OpenFolderIn is [OpenFolder] for the folder name directly in parent.
func OpenFolderIn(parent *os.Root, name string) (*os.Root, error) {
	is, err := parent.Lstat(name)
	if err == nil && !is.IsDir() {
		err = &fs.PathError{Op: "open", Path: filepath.Join(parent.Name(), name), Err: errReplaced}
	}
	if err != nil {
		return nil, err
	}
	// without the dot, opening would block if a pipe has replaced the folder by now
	root, err := parent.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	// a link may have replaced the folder since Lstat
	if opened, err := root.Stat("."); err != nil || !os.SameFile(is, opened) {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: root.Name(), Err: errReplaced}, err,
			root.Close())
	}
	return root, nil
}

// makeFolder is OpenFolder, but creates a missing folder and removes anything else in its place.
func makeFolder(path string) (*os.Root, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return makeFolderIn(parent, filepath.Base(path))
}

func makeFolderIn(parent *os.Root, name string) (*os.Root, error) {
	if info, err := parent.Lstat(name); err == nil && !info.IsDir() {
		if err := parent.Remove(name); err != nil {
			return nil, err
		}
	}
	if err := parent.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return OpenFolderIn(parent, name)
}

// EmptyFolder removes everything in the folder at path, or creates the folder. Links in it or in
// its place are removed, never followed.
func EmptyFolder(path string) error {
	root, err := makeFolder(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return empty(root)
}

// EmptyFolderIn is [EmptyFolder] for the folder name directly in parent. parent stays the same
// folder even if cells replace its path.
func EmptyFolderIn(parent *os.Root, name string) error {
	root, err := makeFolderIn(parent, name)
	if err != nil {
		return err
	}
	defer root.Close()
	return empty(root)
}

func empty(root *os.Root) error {
	names, err := namesIn(root)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := removeIn(root, name); err != nil {
			return err
		}
	}
	return nil
}

// RemoveFolder removes the folder at path, to which cells may have written, with everything in it.
// A missing folder is no error.
func RemoveFolder(path string) error {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	return RemoveFolderIn(parent, filepath.Base(path))
}

// RemoveFolderIn is [RemoveFolder] for the folder name directly in parent.
func RemoveFolderIn(parent *os.Root, name string) error { return removeIn(parent, name) }

// removeIn removes name in root. Cells can make [os.RemoveAll] fail, which holds a descriptor for
// each level of folders: a cell can nest more folders than descriptors are allowed, or create one
// that cannot be opened. So removeIn moves the contents of a folder up before removing it, and
// never descends more than two levels.
func removeIn(root *os.Root, name string) error {
	for left := []string{name}; len(left) > 0; {
		name, left = left[len(left)-1], left[:len(left)-1]
		raised, err := raise(root, name)
		if left = append(left, raised...); err == nil {
			err = root.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// raise empties the folder at name in root. It moves non-empty folders in it to root, returns their
// new names, and removes everything else. It does nothing if name is not a folder.
func raise(root *os.Root, name string) (raised []string, err error) {
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return nil, err
	}
	_ = root.Chmod(name, 0o700) // if this fails, so does the next step
	folder, err := OpenFolderIn(root, name)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	names, err := namesIn(folder)
	if err != nil {
		return nil, err
	}
	for _, inner := range names {
		if folder.Remove(inner) == nil {
			continue
		}
		_ = folder.Chmod(inner, 0o700) // moving a folder changes its "..", which needs write access
		up := "dsstar-removed-" + rand.Text()
		if err := root.Rename(filepath.Join(name, inner), up); err != nil {
			return raised, err
		}
		raised = append(raised, up)
	}
	return raised, nil
}

// namesIn returns the names in a folder.
func namesIn(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

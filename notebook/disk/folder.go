package disk

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// errReplaced is that a folder is not what it was: cells can put something else in its place.
var errReplaced = errors.New("it has been replaced by something else")

// OpenFolder opens the folder at path, which cells may have replaced. A link in its place is not
// followed, and a pipe not waited for: both are errors.
func OpenFolder(path string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return OpenFolderIn(parent, filepath.Base(path))
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
	// without the dot it would wait, should it be a pipe by now
	root, err := parent.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(is, opened) { // by now it was a link
		return nil, errors.Join(&fs.PathError{Op: "open", Path: root.Name(), Err: errReplaced}, err, root.Close())
	}
	return root, nil
}

// makeFolder is OpenFolder, but makes the folder if it is missing. What is in its place and no
// folder, it removes.
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

// EmptyFolder removes what is in the folder path, but not the folder, which it makes if it is
// missing. Links in it or in its place are removed, never followed.
func EmptyFolder(path string) error {
	root, err := makeFolder(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return empty(root)
}

// EmptyFolderIn is [EmptyFolder] for the folder name directly in parent, whose path cells may have
// replaced.
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

// RemoveFolder removes the folder path, in which cells may have written, with all that is in it.
// That it is missing is no error.
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

// removeIn removes what is at name in root, and cannot be made to fail by cells. [os.RemoveAll]
// can: it holds a file open for each level of folders, and a cell can make more of them than files
// may be open, or one that may not be opened. So what is in a folder is moved up before that goes,
// and nothing is ever deeper than two levels.
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

// raise removes what is in the folder at name in root, but for folders that are not empty: it moves
// them to root under names that it returns. Of anything else it does nothing.
func raise(root *os.Root, name string) (raised []string, err error) {
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return nil, err
	}
	_ = root.Chmod(name, 0o700) // where that fails, what follows says so
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
		_ = folder.Chmod(inner, 0o700) // moving a folder changes it, too: its parent is another one
		up := "dsstar-removed-" + rand.Text()
		if err := root.Rename(filepath.Join(name, inner), up); err != nil {
			return raised, err
		}
		raised = append(raised, up)
	}
	return raised, nil
}

// namesIn lists a folder.
func namesIn(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

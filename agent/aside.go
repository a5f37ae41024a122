package agent

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// asidePrefix begins the name of the folder that holds the files of the run's session while
// the proof uses files/. Cells cannot guess the rest of the name, and they cannot read the
// folder even if they can list it.
const asidePrefix = ".dsstar-files-"

// setFilesAside moves the files of the run folder away so that new ones can be made, and returns what
// puts them back. Until then nobody can read their folder, not even its owner: in the builtin sandbox
// cells can list the run folder if it lies in the data.
func setFilesAside(folder *os.Root) (putBack func() error, err error) {
	info, err := folder.Lstat(record.FilesFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	name := asidePrefix + rand.Text()
	err = folder.Rename(record.FilesFolder, name)
	if err == nil && info.IsDir() { // else there is nothing to look into
		err = folder.Chmod(name, 0)
	}
	return func() error { return putFilesBack(folder, name, info.Mode().Perm()) }, err
}

// putFilesBack removes the new files and puts the former ones back, readable again.
func putFilesBack(folder *os.Root, name string, mode fs.FileMode) error {
	info, err := folder.Lstat(name)
	if err == nil && info.IsDir() {
		err = folder.Chmod(name, cmp.Or(mode, 0o700))
	}
	if err = cmp.Or(err, disk.RemoveFolderIn(folder, record.FilesFolder)); err != nil {
		return err
	}
	return folder.Rename(name, record.FilesFolder)
}

// putBackKilled puts back the files of a run that was killed during its proof, if it can be told
// which they were.
func putBackKilled(folder *os.Root) error {
	names, err := fs.Glob(folder.FS(), asidePrefix+"*")
	if err != nil || len(names) != 1 {
		return err
	}
	return putFilesBack(folder, names[0], 0)
}

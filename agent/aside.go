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

// An aside is the files of a run folder while they are set aside.
type aside struct {
	folder *os.Root
	name   string      // "": there were none
	mode   fs.FileMode // that the files' folder had
}

// setFilesAside moves the files of the run folder away so that new ones can be made. Until
// they are put back, nobody can read their folder, not even its owner: in the builtin
// sandbox cells can list the run folder if it lies in the data.
func setFilesAside(folder *os.Root) (aside, error) {
	info, err := folder.Lstat(record.FilesFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return aside{folder: folder}, nil
	}
	if err != nil {
		return aside{}, err
	}
	a := aside{folder, asidePrefix + rand.Text(), info.Mode().Perm()}
	if err := folder.Rename(record.FilesFolder, a.name); err != nil {
		return a, err
	}
	if info.IsDir() { // else there is nothing to look into
		err = folder.Chmod(a.name, 0)
	}
	if err != nil {
		err = cmp.Or(a.putBack(), err)
	}
	return a, err
}

// putBack removes the new files and puts the former ones back, readable again.
func (a aside) putBack() error {
	if a.name == "" {
		return nil
	}
	info, err := a.folder.Lstat(a.name)
	if err == nil && info.IsDir() {
		err = a.folder.Chmod(a.name, a.mode)
	}
	if err = cmp.Or(err, disk.RemoveFolderIn(a.folder, record.FilesFolder)); err != nil {
		return err
	}
	return a.folder.Rename(a.name, record.FilesFolder)
}

// putBackFiles puts back the files of a run that was killed during its proof, if it can be told
// which they were.
func putBackFiles(folder *os.Root) error {
	names, err := fs.Glob(folder.FS(), asidePrefix+"*")
	if err != nil || len(names) != 1 {
		return err
	}
	info, err := folder.Lstat(names[0])
	if err != nil {
		return err
	}
	return aside{folder, names[0], cmp.Or(info.Mode().Perm(), 0o700)}.putBack()
}

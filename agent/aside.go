package agent

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// asidePrefix begins the name of the folder that holds what the run's session wrote
// while the proof has files/. Cells cannot guess the rest of the name, and where they can list it
// they cannot look into the folder.
const asidePrefix = ".dsstar-files-"

// oldPrefix begins the name of such a folder that is being removed.
const oldPrefix = ".dsstar-old-"

// An aside is the files of a run folder while they are out of the way.
type aside struct {
	folder *os.Root
	name   string      // "": there were none
	mode   fs.FileMode // that the files' folder had
}

// setFilesAside moves the files of the run folder, so that others can be made. Until they
// are put back nobody can look into their folder, not even its owner: in the tier builtin,
// cells may list the run folder where it lies in the data.
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

// open makes it possible to look into the folder again.
func (a aside) open() error {
	info, err := a.folder.Lstat(a.name)
	if err != nil || !info.IsDir() {
		return err
	}
	return a.folder.Chmod(a.name, a.mode)
}

// putBack removes the files that were made since, and puts the former ones back.
func (a aside) putBack() error {
	if a.name == "" {
		return nil
	}
	if err := cmp.Or(disk.RemoveFolderIn(a.folder, record.FilesFolder), a.open()); err != nil {
		return err
	}
	return a.folder.Rename(a.name, record.FilesFolder)
}

// remove removes the former files. They have another name meanwhile, which [putBackFiles]
// does not take for files to put back.
func (a aside) remove() error {
	if a.name == "" {
		return nil
	}
	old := oldPrefix + rand.Text()
	if err := cmp.Or(a.open(), a.folder.Rename(a.name, old)); err != nil {
		return err
	}
	return disk.RemoveFolderIn(a.folder, old)
}

// putBackFiles does what a run that was killed during its proof did not get to. A session
// that was left running has its files in their place: the former ones had another name
// before it was left. The warning is that it cannot be told which files were the run's; then
// nothing is changed.
func putBackFiles(folder *os.Root) (warning string, err error) {
	old, err := fs.Glob(folder.FS(), oldPrefix+"*")
	for _, name := range old {
		err = cmp.Or(err, disk.RemoveFolderIn(folder, name))
	}
	names, globbed := fs.Glob(folder.FS(), asidePrefix+"*")
	if err = cmp.Or(err, globbed); err != nil || len(names) == 0 {
		return "", err
	}
	if len(names) > 1 {
		return "the files of the run are not put back: there is more than one folder of them: " +
			strings.Join(names, ", "), nil
	}
	info, err := folder.Lstat(names[0])
	if err != nil {
		return "", err
	}
	return "", aside{folder, names[0], cmp.Or(info.Mode().Perm(), 0o700)}.putBack()
}

package agent

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"dsstar/notebook"
)

// asidePrefix begins the name of the folder that holds what the run's session wrote
// while the proof has files/. Cells cannot guess the rest of the name.
const asidePrefix = ".dsstar-files-"

// An aside is the files of a run folder while they are out of the way.
type aside struct {
	folder *os.Root
	name   string // "": there were none
}

// setFilesAside moves the files of the run folder, so that others can be made.
func setFilesAside(folder *os.Root) (aside, error) {
	a := aside{folder, asidePrefix + rand.Text()}
	err := folder.Rename(filesFolder, a.name)
	if errors.Is(err, fs.ErrNotExist) {
		return aside{folder, ""}, nil
	}
	return a, err
}

// putBack removes the files that were made since, and puts the former ones back.
func (a aside) putBack() error {
	if a.name == "" {
		return nil
	}
	if err := notebook.RemoveFolderIn(a.folder, filesFolder); err != nil {
		return err
	}
	return a.folder.Rename(a.name, filesFolder)
}

// remove removes the former files.
func (a aside) remove() error {
	if a.name == "" {
		return nil
	}
	return notebook.RemoveFolderIn(a.folder, a.name)
}

// putBackFiles does what a run that was killed during its proof did not get to.
func putBackFiles(folder *os.Root) error {
	names, err := fs.Glob(folder.FS(), asidePrefix+"*")
	for _, name := range names {
		err = cmp.Or(err, aside{folder, name}.putBack())
	}
	return err
}

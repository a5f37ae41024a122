package record

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"dsstar/notebook/disk"
)

// unfinishedFolder is the folder in a run folder in which a run that has an answer goes on.
const unfinishedFolder = "unfinished"

// besideNotebook are the folders in a run folder that belong to its notebook.
var besideNotebook = []string{FilesFolder, variablesFolder}

// Unfinished returns the folder in which a run that has an answer goes on until it has another one.
// It is a run folder, but for the trace and the data, which stay in f.
func (f Folder) Unfinished() Folder { return Folder(filepath.Join(string(f), unfinishedFolder)) }

// From returns the copy, in that folder, of the notebook from which the run goes on.
func (f Folder) From() string { return filepath.Join(string(f.Unfinished()), "from.ipynb") }

// GoOn makes that folder anew. What cells find beside a notebook has copies there, but for the
// files, which the cells make. Links that lead out of f are not followed.
func (f Folder) GoOn() error {
	next := string(f.Unfinished())
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := errors.Join(disk.RemoveFolderIn(root, unfinishedFolder), root.Mkdir(unfinishedFolder, 0o755)); err != nil {
		return err
	}
	variables, _ := fs.Sub(root.FS(), variablesFolder)
	if err = os.CopyFS(filepath.Join(next, variablesFolder), variables); errors.Is(err, fs.ErrNotExist) {
		return nil // cells use none
	}
	return err
}

// TakeOver puts the folders beside the notebook of the unfinished run in the place of those in f.
// After a kill it is to be called again.
func (f Folder) TakeOver() error {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range besideNotebook {
		next := path.Join(unfinishedFolder, name)
		if _, err := root.Lstat(next); errors.Is(err, fs.ErrNotExist) {
			continue // it is there already, or the cells had no such folder
		}
		err := root.Rename(name, path.Join(unfinishedFolder, "former-"+name))
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = root.Rename(next, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stands reports whether the run has ended with an answer. What fails after the proof does not
// count.
func (t *Trajectory) Stands() bool {
	proved := t.Proof != nil && !t.Proof.Unable
	return t.Ended && t.Answer() != "" && len(t.Later) == 0 && (t.Failure == "" || proved)
}

// Edition returns what counts of a notebook when a run goes on from it: its cells, and what a
// person has changed.
func (t *Trajectory) Edition() string {
	all := []any{t.Script()}
	for _, q := range slices.Concat(t.Questions, t.Later) {
		all = append(all, q.Start)
	}
	return digest(all)
}

// TakeRemarks takes over the cells that a person has added or changed in another notebook of the
// run.
func (t *Trajectory) TakeRemarks(from *Trajectory) {
	theirs := func(k Remark) bool {
		return slices.ContainsFunc(from.Remarks, func(o Remark) bool { return o.Cell.ID == k.Cell.ID })
	}
	t.Remarks = append(slices.Clone(from.Remarks), slices.DeleteFunc(t.Remarks, theirs)...)
}

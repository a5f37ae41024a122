package kernel

import (
	"fmt"
	"os"
	"path/filepath"

	"dsstar/notebook"
)

// fold returns what collects the outputs of a cell.
func (o Outputs) fold(c Cell) notebook.Fold {
	f := notebook.Fold{Limits: o.Limits, Prefix: c.ID, ShownAs: o.ShownAs, Observe: c.Observe}
	if o.Folder != "" {
		f.Folder = o.open
	}
	return f
}

// open makes the folder for long outputs, which may lie where cells write: a
// link that one of them has put there, or in the place of the folder around it,
// is not followed, and a pipe not waited for.
func (o Outputs) open() (*os.Root, error) {
	parent := o.parent
	if parent == nil {
		var err error
		if parent, err = notebook.OpenFolder(filepath.Dir(o.Folder)); err != nil {
			return nil, err
		}
		defer parent.Close()
	} else if err := leadsTo(filepath.Dir(o.Folder), parent); err != nil { // nobody would find them
		return nil, err
	}
	name := filepath.Base(o.Folder)
	if err := parent.Mkdir(name, 0o777); err != nil && !os.IsExist(err) {
		return nil, err
	}
	return notebook.FolderIn(parent, name)
}

// leadsTo is an error unless path leads to the folder that is held.
func leadsTo(path string, held *os.Root) error {
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

// takeLate removes and returns the late outputs.
func (s *session) takeLate() []Late {
	s.mu.Lock()
	messages := s.late
	s.late, s.lateBytes = nil, 0
	s.mu.Unlock()
	var all []Late
	folds := map[string]*notebook.Fold{}
	for _, m := range messages {
		if folds[m.cell] == nil {
			f := s.outputs.fold(Cell{ID: m.cell})
			folds[m.cell] = &f
			all = append(all, Late{CellID: m.cell})
		}
		_ = folds[m.cell].Add(m.msg.Header.MsgType, m.msg.Content) // what cannot be read is no output
	}
	for i := range all {
		f := folds[all[i].CellID]
		_ = f.Close() // its outputs say what could not be kept
		all[i].Outputs, all[i].Updates = f.Outputs(), f.Updates()
	}
	return all
}

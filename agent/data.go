package agent

import (
	"context"
	"fmt"
	"path/filepath"

	"dsstar/agent/files"
)

// sums returns the sums of the files that the run may look at, by their names. A file is read again
// only if it has been touched.
func (r *run) sums() map[string]string {
	return files.Sums(r.t.Task.In(r.dataPath()), r.all)
}

// checkData warns once if a data file is not as it was when the run began, or was not there. Cells are
// told not to write to the data; an answer from files that the run has changed itself cannot be proved.
func (r *run) checkData() error {
	if r.t.Task.Data == "" || r.changedFile != "" {
		return nil
	}
	now, known := r.sums(), map[string]bool{}
	for _, f := range r.all {
		if known[f.Name] = true; now[f.Name] != r.data[f.Name] {
			r.changedFile = f.Name
		}
	}
	if r.t.Task.Others == len(r.all)-len(r.t.Task.Files) { // it knows all files
		list, _ := files.List(context.Background(), r.t.Task.In(r.dataPath()))
		for _, f := range list.Files {
			if !known[f.Name] {
				r.changedFile = f.Name
			}
		}
	}
	if r.changedFile == "" {
		return nil
	}
	return r.Warn(fmt.Sprintf("the data file %s was changed during the run: the answer cannot be "+
		"verified", r.changedFile))
}

// dataPath returns the absolute path of the data folder, or "".
func (r *run) dataPath() string {
	if r.t.Task.Data == "" || filepath.IsAbs(r.t.Task.Data) {
		return r.t.Task.Data
	}
	return filepath.Join(r.cfg.Dir, r.t.Task.Data)
}

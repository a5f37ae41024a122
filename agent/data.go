package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"dsstar/agent/files"
	"dsstar/agent/record"
)

// everyCell is the largest number of data files that are checked after every cell. More
// files are checked only before and after the proof.
const everyCell = 1000

// changed returns a data file that is not as it was, or that was not there, or "". Cells are told not
// to write to the data; an answer from files that the run has changed itself cannot be proved. New
// files are only looked for with all.
func (r *run) changed(all bool) string {
	now := r.sums()
	for _, f := range r.all {
		if now[f.Name] != r.data[f.Name] {
			return f.Name
		}
	}
	if !all || len(r.all) > everyCell || r.t.Task.Others != len(r.all)-len(r.t.Task.Files) {
		return ""
	}
	list, err := files.List(context.Background(), r.t.Task.In(r.dataPath()), r.t.Task.Include)
	for _, f := range list.Files {
		is := func(known record.File) bool { return known.Name == f.Name }
		if err == nil && !slices.ContainsFunc(r.all, is) {
			return f.Name
		}
	}
	return ""
}

// sums returns the sums of the files that the run may look at, by their names. A file is read again
// only if it has been touched.
func (r *run) sums() map[string]string {
	return files.Sums(r.t.Task.In(r.dataPath()), r.all)
}

// checkData warns once if the run's cells have changed a data file. all checks any number of
// files.
func (r *run) checkData(all bool) error {
	if r.t.Task.Data == "" || r.changedFile != "" || !all && len(r.all) > everyCell {
		return nil
	}
	if r.changedFile = r.changed(all); r.changedFile == "" {
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

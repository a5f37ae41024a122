package agent

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"dsstar/agent/files"
	"dsstar/agent/record"
)

// A dataState is the stamp of each data file. Cells are told not to write to the data; an answer
// from files that the run has changed itself cannot be proved.
type dataState map[string]files.Stamp

// lookAt returns the state of the files of a data folder, and of their companions that hold data.
func lookAt(data string, all []record.File) dataState {
	state := dataState{}
	look := func(name, path string) {
		if stamp, err := files.StampOf(path); err == nil {
			state[name] = stamp
		}
	}
	for _, f := range all {
		at := filepath.Join(data, f.Name)
		look(f.Name, at)
		for _, c := range files.Companions(at, f.Name) {
			if c.Holds() {
				look(c.Name, c.Path)
			}
		}
	}
	return state
}

// changed returns a file that is not as it was, or "". Files that were touched may be.
func (s dataState) changed(data string, all []record.File) (name string, touched bool) {
	now := lookAt(data, all)
	every := maps.Clone(now)
	maps.Copy(every, s)
	for _, name := range slices.Sorted(maps.Keys(every)) {
		was, is := s[name], now[name]
		if touched = touched || is.Touched(was); was != is && !is.Touched(was) {
			return name, touched
		}
	}
	return "", touched
}

// rewritten returns a file that the model is shown whose content is not as it was, or "".
func (r *run) rewritten() string {
	sums := r.sums()
	for _, f := range r.t.Task.Files {
		if f.Sum != "" && f.Sum != sums[f.Name] {
			return f.Name
		}
	}
	return ""
}

// sums returns the sums of the files that the model is shown, by their names.
func (r *run) sums() map[string]string {
	return files.Sums(r.t.Task.In(r.dataPath()), r.t.Task.Files)
}

// added returns the first file that was not there, or "".
func (s dataState) added(sources []files.Source, include []string) string {
	now, err := files.ListAll(context.Background(), sources, include)
	if err != nil {
		return ""
	}
	for _, f := range now.Files {
		if _, known := s[f.Name]; !known {
			return f.Name
		}
	}
	return ""
}

// everyCell is the largest number of data files that are checked after every cell. More
// files are checked only before and after the proof.
const everyCell = 1000

// checkData warns once if the run's cells have changed a data file. all checks any number of
// files.
func (r *run) checkData(all bool) error {
	if r.t.Task.Data == "" || r.changedFile != "" || (!all && len(r.all) > everyCell) {
		return nil
	}
	name, touched := r.data.changed(r.dataPath(), r.all)
	if r.changedFile = name; name == "" && touched {
		r.changedFile = r.rewritten()
	}
	if all && r.changedFile == "" && len(r.all) <= everyCell &&
		r.t.Task.Others == len(r.all)-len(r.t.Task.Files) {
		r.changedFile = r.data.added(r.t.Task.In(r.dataPath()), r.t.Task.Include)
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

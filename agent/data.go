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

// everyCell is the largest number of data files that are checked after every cell. More
// files are checked only before and after the proof.
const everyCell = 1000

// changed returns a data file that is not as it was, or that was not there, or "". New files are
// only looked for with all. Of files that were only touched the content counts.
func (r *run) changed(all bool) string {
	now, touched := lookAt(r.dataPath(), r.all), false
	every := maps.Clone(now)
	maps.Copy(every, r.data)
	for _, name := range slices.Sorted(maps.Keys(every)) {
		was, is := r.data[name], now[name]
		if was != is && !is.Touched(was) {
			return name
		}
		touched = touched || is.Touched(was)
	}
	if touched {
		sums := r.sums()
		for _, f := range r.t.Task.Files {
			if f.Sum != "" && f.Sum != sums[f.Name] {
				return f.Name
			}
		}
	}
	if !all || len(r.all) > everyCell || r.t.Task.Others != len(r.all)-len(r.t.Task.Files) {
		return ""
	}
	list, err := files.ListAll(context.Background(), r.t.Task.In(r.dataPath()), r.t.Task.Include)
	for _, f := range list.Files {
		if _, known := r.data[f.Name]; !known && err == nil {
			return f.Name
		}
	}
	return ""
}

// sums returns the sums of the files that the model is shown, by their names.
func (r *run) sums() map[string]string {
	return files.Sums(r.t.Task.In(r.dataPath()), r.t.Task.Files)
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

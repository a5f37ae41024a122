package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dsstar/agent/files"
	"dsstar/agent/record"
)

// A dataState is the size and date of each data file. Cells are told not to write to the
// data; an answer from files that the run has changed itself cannot be proved.
type dataState map[string]fileState

type fileState struct {
	size int64
	date time.Time
}

// lookAt returns the state of the files of a data folder.
func lookAt(data string, files []record.File) dataState {
	state := dataState{}
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(data, filepath.FromSlash(f.Name))); err == nil {
			state[f.Name] = fileState{info.Size(), info.ModTime()}
		}
	}
	return state
}

// changed returns the first file that is not as it was, or "".
func (s dataState) changed(data string, files []record.File) string {
	now := lookAt(data, files)
	for _, f := range files {
		if s[f.Name] != now[f.Name] {
			return f.Name
		}
	}
	return ""
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
func (r *workspace) checkData(all bool) error {
	if r.t.Task.Data == "" || r.changedFile != "" || (!all && len(r.all) > everyCell) {
		return nil
	}
	r.changedFile = r.data.changed(r.dataPath(), r.all)
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

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"dsstar/agent/bench"
	"dsstar/agent/files"
	"dsstar/agent/record"
)

// errLacking is wrapped by the error for a task whose data are not there. The task gets no record, and
// the run continues.
var errLacking = errors.New("its data are not there")

// Look reports whether the task's data folder has files, and returns the targets of data files
// that are links to places outside the data folder and the allowed folders. Cells cannot read
// them, because data from strangers may link to the user's keys. Files that the task names are
// looked for when the task runs.
func Look(ctx context.Context, t bench.Task, allowed []string) (hasData bool, linked []string) {
	names := t.Files
	if names == nil && t.Data != "" {
		all, _ := files.List(ctx, []files.Source{{Path: t.Data}}) // without a folder there are none
		for _, file := range all.Files {
			names = append(names, file.Name)
		}
	}
	folder := files.In(t.Data, allowed...)
	for _, name := range names {
		if _, err := folder.Find(name); errors.Is(err, files.ErrOutside) {
			target, _ := filepath.EvalSymlinks(filepath.Join(t.Data, name)) // as Find has found it
			linked = append(linked, target)
		}
	}
	return t.Data != "" && (t.Files != nil || len(names) > 0), linked
}

// prepare returns the task as agents see it, and what cells must be able to read besides its data. If
// the task names its files, the run folder gets a data folder with links to only these.
func prepare(ctx context.Context, t bench.Task, folder record.Folder) (task record.Task,
	read []string, err error) {
	task = record.Task{Question: t.Question, Guidelines: t.Guidelines}
	// The real path: the run folder's relative path to the data must not lead through links.
	task.Data, err = filepath.EvalSymlinks(t.Data)
	at := task.Data
	if err == nil && t.Files != nil {
		task.Data, at = record.DataFolder, filepath.Join(string(folder), record.DataFolder)
		for _, name := range t.Files {
			task.Sources = append(task.Sources, files.Source{Name: path.Clean(name),
				Path: filepath.Join(t.Data, name)})
		}
		var linked []files.Source
		linked, err = files.Link(string(folder), record.DataFolder, task.Sources, nil)
		for _, s := range linked {
			read = append(read, s.Path)
		}
	}
	var all files.Listing
	if err == nil {
		all, err = files.List(ctx, task.In(at))
	}
	task.Files, task.Skipped = all.Files, all.Skipped
	if t.Data == "" || errors.Is(err, fs.ErrNotExist) || err == nil && len(all.Files) == 0 {
		err = fmt.Errorf("%w: %s: %v", errLacking, t.Data, cmp.Or(err, fs.ErrNotExist))
	}
	return task, read, err
}

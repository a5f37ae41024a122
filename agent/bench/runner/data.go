package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dsstar/agent/bench"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// everything in a benchmark's folder is data: nothing is skipped.
var everything = []string{"."}

// Look reports whether the task's data folder has files, and returns the targets of data files
// that are links to places outside the data folder and the allowed folders. Cells cannot read
// them, because data from strangers may link to the user's keys. Files that the task names are
// looked for when the task runs.
func Look(ctx context.Context, t bench.Task, allowed []string) (hasData bool, linked []string) {
	names := t.Files
	if names == nil && t.Data != "" {
		all, _ := files.List(ctx, []files.Source{{Path: t.Data}}, everything) // without a folder there are none
		for _, file := range all.Files {
			names = append(names, file.Name)
		}
	}
	for _, name := range names {
		target, err := filepath.EvalSymlinks(filepath.Join(t.Data, name))
		shown := func(dir string) bool { return disk.Inside(disk.RealPath(dir), target) }
		if err == nil && !shown(t.Data) && !slices.ContainsFunc(allowed, shown) {
			linked = append(linked, target)
		}
	}
	return t.Data != "" && (t.Files != nil || len(names) > 0), linked
}

// prepare returns the task as agents see it. If the task names its files, the run folder gets
// a data folder with only these. The error is a [*LackingError] if data is missing.
func prepare(ctx context.Context, t bench.Task, folder record.Folder,
	confined bool) (task record.Task, err error) {
	data := t.Data
	if data == "" {
		return task, &LackingError{errors.New("it has no data")}
	}
	if t.Files != nil {
		data = filepath.Join(string(folder), "data")
	}
	for _, name := range t.Files {
		err := lend(filepath.Join(t.Data, name), filepath.Join(data, name), confined)
		if errors.Is(err, fs.ErrNotExist) {
			return task, &LackingError{err}
		}
		if err != nil {
			return task, fmt.Errorf("task %s: %w", t.ID, err)
		}
	}
	// The real path: the run folder's relative path to the data must not lead through links.
	if data, err = filepath.EvalSymlinks(data); err != nil {
		return task, &LackingError{fmt.Errorf("the data folder: %w", err)}
	}
	all, err := files.List(ctx, []files.Source{{Path: data}}, everything)
	if err == nil && len(all.Files) == 0 {
		err = &LackingError{fmt.Errorf("the data folder has no data files: %s", data)}
	}
	return record.Task{
		Question: t.Question, Guidelines: t.Guidelines, Data: data, Include: everything,
		Files: all.Files, Skipped: all.Skipped,
	}, err
}

// lend makes a file, or the target of a link, available at another path. It makes a hard
// link if cells are confined, and so cannot write to the file, and if the file system allows
// it; otherwise a copy.
func lend(from, to string, confined bool) error {
	from, err := filepath.EvalSymlinks(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err != nil || confined && os.Link(from, to) == nil {
		return err
	}
	data, err := disk.Open(from, 1<<62)
	if err != nil {
		return err
	}
	defer data.Close()
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, data)
	return errors.Join(err, copied.Close())
}

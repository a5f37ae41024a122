package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A dataState is what the data files looked like: by name, their size and date.
// Cells are told not to write to them, and nothing yet keeps them from it; an
// answer from files that the run has changed itself cannot be proved.
type dataState map[string]fileState

type fileState struct {
	size int64
	date time.Time
}

// lookAt returns the state of the files of a data folder.
func lookAt(data string, files []File) dataState {
	state := dataState{}
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(data, filepath.FromSlash(f.Name))); err == nil {
			state[f.Name] = fileState{info.Size(), info.ModTime()}
		}
	}
	return state
}

// changed returns the first file that is not as it was, or "".
func (s dataState) changed(data string, files []File) string {
	now := lookAt(data, files)
	for _, f := range files {
		if s[f.Name] != now[f.Name] {
			return f.Name
		}
	}
	return ""
}

// checkData warns, once, when the run's cells have changed a data file.
func (r *run) checkData() error {
	if r.changedFile != "" {
		return nil
	}
	if r.changedFile = r.data.changed(r.dataPath(), r.t.Task.Files); r.changedFile == "" {
		return nil
	}
	return r.observe(Event{Kind: Warned, Text: fmt.Sprintf("the data file %s was changed during the run: the answer cannot be verified", r.changedFile)})
}

// Files lists the data files of a folder, sorted by folder and name: regular
// files at any depth, also through a link to a file, without hidden ones and
// without the run folders of earlier questions. Folders that cannot be read are
// left out and named in unread.
func Files(data string) (files []File, unread []string, err error) {
	if data, err = filepath.EvalSymlinks(data); err != nil {
		return nil, nil, fmt.Errorf("list the data folder: %w", err)
	}
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(data, path)
		if err != nil {
			if path == data || !errors.Is(err, fs.ErrPermission) {
				return err
			}
			unread = append(unread, filepath.ToSlash(name))
			return nil
		}
		if path != data && (strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__") || isRun(path, d) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil // a folder, a broken link, a pipe: nothing to describe
		}
		files = append(files, File{Name: filepath.ToSlash(name), Size: info.Size()})
		return relErr
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list the data folder: %w", err)
	}
	return files, unread, nil
}

func isRun(path string, d fs.DirEntry) bool {
	if !d.IsDir() {
		return false
	}
	f := Folder(path)
	for _, name := range []string{f.Notebook(), f.Trace(), f.Files()} {
		if _, err := os.Lstat(name); err != nil {
			return false
		}
	}
	return true
}

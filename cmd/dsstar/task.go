package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/usage"
)

// newTask checks and lists the data folder. Without a folder the question is about variables only.
// A missing name in include is an error only if it was given as a flag: a setting may be meant for
// other folders.
func newTask(ctx context.Context, question, guidelines, folder string, include []string, given bool) (record.Task, error) {
	if folder == "" {
		return record.Task{Question: question, Guidelines: guidelines}, nil
	}
	data, err := filepath.Abs(folder)
	if err != nil {
		return record.Task{}, err
	}
	if scheme := isURL.FindString(folder); scheme != "" { // the rest may hold a password
		return record.Task{}, usage.New(fmt.Sprintf("the data folder: a path is wanted, not a %s address: only folders of this machine are read", strings.TrimSuffix(scheme, "://")),
			usage.Again("--data", "DIR").Note("a folder with a copy of the data"))
	}
	info, err := os.Stat(data)
	switch {
	case os.IsNotExist(err):
		return record.Task{}, usage.New("the data folder does not exist: "+folder, usage.Shell("ls %s", filepath.Dir(data)))
	case err != nil:
		return record.Task{}, usage.New(fmt.Sprintf("the data folder: %v", err), usage.Shell("ls -ld %s", data))
	case !info.IsDir():
		return record.Task{}, usage.New("not a folder: "+folder, usage.Again("--data", filepath.Dir(data)))
	}
	// The run folder's relative path to the data must not lead through a link.
	if data, err = filepath.EvalSymlinks(data); err != nil {
		return record.Task{}, fmt.Errorf("the data folder: %w", err)
	}
	for _, name := range include {
		if _, err := os.Stat(filepath.Join(data, name)); given && (!filepath.IsLocal(name) || err != nil) {
			return record.Task{}, usage.New(fmt.Sprintf("--include: %s is not in the data folder, %s", name, data), usage.Shell("ls -a %s", data))
		}
	}
	task := record.Task{Question: question, Guidelines: guidelines, Data: data, Include: include}
	return task, listData(ctx, &task, data)
}

var isURL = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://`)

// listData lists the data folder of a task; an empty one is a usage error.
func listData(ctx context.Context, task *record.Task, data string) error {
	all, err := files.List(ctx, data, task.Include)
	if err != nil {
		return err
	}
	task.Files, task.Unread, task.Skipped = all.Files, all.Unread, all.Skipped
	switch skipped := files.InWords(all.Skipped); {
	case len(all.Files) > 0:
		return nil
	case skipped != "":
		hints := []usage.Hint{usage.Again("--include", ".").Note("skips nothing")}
		if name, folder := strings.CutSuffix(all.Skipped[0].Name, "/"); folder {
			hints = append(hints, usage.Again("--data", filepath.Join(data, name)).Note("what is named is not skipped"))
		}
		return usage.New("the data folder has no data files but what is skipped: "+skipped, hints...)
	}
	return usage.New("the data folder has no data files: "+data, usage.Shell("ls -la %s", data))
}

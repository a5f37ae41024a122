package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// openNotebook reads the notebook at path. It follows no link, which a stranger may have put there.
func openNotebook(path string) (*notebook.Notebook, error) {
	bad := func(hint usage.Hint, format string, args ...any) (*notebook.Notebook, error) {
		return nil, usage.New(fmt.Sprintf(format, args...), hint)
	}
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, usage.New("there is no file "+term.Printable(path),
			append(similar(path, filepath.Dir(path)), notebooksIn(filepath.Dir(path)))...)
	case err == nil && info.IsDir():
		return bad(notebooksIn(path), "%s is a folder, not a notebook",
			term.Printable(path))
	case err == nil && !info.Mode().IsRegular():
		return bad(usage.Shell("ls -l %s", path), "%s is not a file, as a run leaves it, but something else, "+
			"such as a link", term.Printable(path))
	case err != nil:
		return bad(usage.Shell("ls -l %s", path), "the notebook: %v", err)
	}
	nb, err := notebook.Open(path)
	if err == nil {
		return nb, nil
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return bad(usage.Shell("ls -l %s", path), "the notebook: %v", err)
	}
	if old := formatOf(path); old > 0 && old < 4 {
		return bad(usage.Shell("jupyter nbconvert --to notebook --nbformat 4 %s", path),
			"%s is a notebook of the old format %d, and 4 is wanted", term.Printable(path), old)
	}
	return bad(usage.Shell("head -c 300 %s", path), "%s: %v", term.Printable(path), err)
}

// formatOf returns the nbformat version of a file; 0 if it has none.
func formatOf(path string) int {
	data, err := disk.ReadPlain(path, disk.MaxDocument)
	var file struct {
		NBFormat int `json:"nbformat"`
	}
	if errors.Join(err, json.Unmarshal(data, &file)) != nil {
		return 0
	}
	return file.NBFormat
}

// notebooksIn returns the command that lists the notebooks of a folder, or else the runs.
func notebooksIn(dir string) usage.Hint {
	if entries, _ := os.ReadDir(dir); slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".ipynb")
	}) {
		return usage.Shell("ls %s/*.ipynb", dir)
	}
	return usage.Shell("dsstar runs")
}

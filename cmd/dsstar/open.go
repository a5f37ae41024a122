package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// namedNotebook opens the notebook that an argument names, or that of the run folder which it names. The user
// has named it, and so where it really is.
func namedNotebook(arg string) (path, real string, nb *notebook.Notebook, err error) {
	path, real = arg, disk.RealPath(arg)
	if run := newestIn(arg); run != "" {
		path, real = run, run
	}
	nb, err = openNotebook(real)
	return path, real, nb, err
}

// openNotebook reads the notebook at path. It follows no link, which a stranger may have put there.
func openNotebook(path string) (*notebook.Notebook, error) {
	bad := func(hint usage.Hint, format string, args ...any) (*notebook.Notebook, error) {
		return nil, usage.New(fmt.Sprintf(format, args...), hint)
	}
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, usage.New("there is no file "+ui.Printable(path),
			append(similar(path, filepath.Dir(path)), notebooksIn(filepath.Dir(path)))...)
	case err == nil && info.IsDir():
		return bad(notebooksIn(path), "%s is a folder, not a notebook",
			ui.Printable(path))
	case err == nil && !info.Mode().IsRegular():
		return bad(usage.Shell("ls -l %s", path), "%s is not a file, as a run leaves it, but something else, "+
			"such as a link", ui.Printable(path))
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
	return bad(usage.Shell("head -c 300 %s", path), "%s is no notebook that can be read: %v", ui.Printable(path), err)
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

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
	shown, look := ui.Printable(path), usage.Shell("ls -l %s", path)
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, usage.New("there is no file "+shown,
			append(similar(path, filepath.Dir(path)), notebooksIn(filepath.Dir(path)))...)
	case err == nil && info.IsDir():
		return nil, usage.New(shown+" is a folder, not a notebook", notebooksIn(path))
	case err == nil && !info.Mode().IsRegular():
		return nil, usage.New(shown+" is not a file, as a run leaves it, but something else, such as a link", look)
	}
	var nb *notebook.Notebook
	if err == nil {
		nb, err = notebook.Open(path)
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return nil, usage.New(fmt.Sprintf("the notebook: %v", err), look)
	}
	if err != nil {
		return nil, usage.New(fmt.Sprintf("%s is no notebook that can be read: %v", shown, err),
			usage.Shell("head -c 300 %s", path))
	}
	return nb, nil
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

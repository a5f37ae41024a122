package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// near returns the command line with each of some names that is similar to a word of it in place of that.
func near(word string, names []string) []usage.Hint {
	instead := func(name string) usage.Hint { return usage.Instead(word, name) }
	return lists.Map(human.Near(word, names), instead)
}

// similar is near for a path, with the names in dir.
func similar(path, dir string) []usage.Hint {
	entries, _ := os.ReadDir(dir) // without it there is nothing to advise
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return near(path, names)
}

// nearFlags is near for a flag that a command has not.
func nearFlags(cmd *cobra.Command, name string) []usage.Hint {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	instead := func(other string) usage.Hint { return usage.Instead("--"+name, "--"+other) }
	return lists.Map(human.Near(name, names), instead)
}

// namedRun returns the path of a run that is given as a path or a name.
func (a *app) namedRun(arg string) (string, error) {
	if _, err := os.Lstat(arg); err == nil || arg != filepath.Base(arg) {
		return arg, nil
	}
	base, err := a.runsFolder()
	if err != nil {
		return "", err
	}
	if path := filepath.Join(base, arg); disk.Exists(path) {
		return path, nil
	}
	if hints := similar(arg, base); len(hints) > 0 {
		return "", usage.New("there is no run "+ui.Printable(arg), append(hints, usage.Shell("dsstar runs"))...)
	}
	return arg, nil
}

// namedNotebook opens the notebook that an argument names, or that of the run folder which it names. The user
// has named it, and so where it really is.
func namedNotebook(arg string) (path, real string, nb *notebook.Notebook, err error) {
	path, real = arg, disk.RealPath(arg)
	if run := newestIn(arg); run != "" {
		path, real = run, run
	}
	nb, _, err = openNotebook(real)
	return path, real, nb, err
}

// openNotebook reads the notebook at path, and returns the content of its file, too. It follows no link,
// which a stranger may have put there.
func openNotebook(path string) (nb *notebook.Notebook, content []byte, err error) {
	shown, look := ui.Printable(path), usage.Shell("ls -l %s", path)
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, nil, usage.New("there is no file "+shown,
			append(similar(path, filepath.Dir(path)), notebooksIn(filepath.Dir(path)))...)
	case err == nil && info.IsDir():
		return nil, nil, usage.New(shown+" is a folder, not a notebook", notebooksIn(path))
	case err == nil && !info.Mode().IsRegular():
		return nil, nil, usage.New(shown+" is not a file, as a run leaves it, but something else, such as a link", look)
	}
	if err == nil {
		content, err = disk.ReadPlain(path, disk.MaxDocument)
	}
	if err == nil {
		nb, err = notebook.Read(bytes.NewReader(content))
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return nil, nil, usage.New(fmt.Sprintf("the notebook: %v", err), look)
	}
	if err != nil {
		return nil, nil, usage.New(fmt.Sprintf("%s is no notebook that can be read: %v", shown, err),
			usage.Shell("head -c 300 %s", path))
	}
	return nb, content, nil
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

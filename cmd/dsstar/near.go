package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/human"
)

// near returns the command line with each of some names that is similar to a word of it in place of that.
func near(word string, names []string) (hints []usage.Hint) {
	for _, name := range human.Near(word, names) {
		hints = append(hints, usage.Instead(word, name))
	}
	return hints
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
func nearFlags(cmd *cobra.Command, name string) (hints []usage.Hint) {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, other := range human.Near(name, names) {
		hints = append(hints, usage.Instead("--"+name, "--"+other))
	}
	return hints
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
	if path := filepath.Join(base, arg); exists(path) {
		return path, nil
	}
	if hints := similar(arg, base); len(hints) > 0 {
		return "", usage.New("there is no run "+ui.Printable(arg), append(hints, usage.Shell("dsstar runs"))...)
	}
	return arg, nil
}

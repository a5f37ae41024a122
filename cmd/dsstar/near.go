package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
)

// What counts as similar: least is a likeness, and maxNear the number of names that an error lists.
const (
	least   = 0.5
	maxNear = 5
)

// near returns the names similar to name, the most similar first.
func near(name string, names []string) []string {
	like := func(other string) float64 {
		return max(likeness(name, other), likeness(filepath.Base(name), filepath.Base(other)))
	}
	names = slices.DeleteFunc(slices.Clone(names), func(other string) bool { return like(other) < least })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(like(b), like(a)) })
	return names[:min(len(names), maxNear)]
}

// similar returns the command line with the names in dir that are similar to that of a path, in place
// of that.
func similar(path, dir string) (hints []usage.Hint) {
	entries, _ := os.ReadDir(dir) // without it there is nothing to advise
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	for _, name := range near(filepath.Base(path), names) {
		hints = append(hints, usage.Instead(path, filepath.Join(dir, name)))
	}
	return hints
}

// nearFlags returns the command line with flags of similar names in place of one that there is not.
func nearFlags(cmd *cobra.Command, name string) (hints []usage.Hint) {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, other := range near(name, names) {
		hints = append(hints, usage.Instead("--"+name, "--"+other))
	}
	return hints
}

// namedRuns returns the paths for arguments, each a path or the name of a run.
func (a *app) namedRuns(args []string) ([]string, error) {
	paths := slices.Clone(args)
	for i, arg := range args {
		if _, err := os.Lstat(arg); err == nil || arg != filepath.Base(arg) {
			continue
		}
		base, err := a.runsFolder()
		if err != nil {
			return nil, err
		}
		if path := filepath.Join(base, arg); exists(path) {
			paths[i] = path
		} else if hints := similar(arg, base); len(hints) > 0 {
			return nil, usage.New("there is no run "+ui.Printable(arg), append(hints, usage.Shell("dsstar runs"))...)
		}
	}
	return paths, nil
}

// likeness is Dice's coefficient of the letter pairs of two words, from 0 to 1.
func likeness(a, b string) float64 {
	count := map[string]int{}
	pairs := func(s string, each func(string)) (n int) {
		runes := []rune(" " + strings.ToLower(s) + " ")
		for i := range len(runes) - 1 {
			each(string(runes[i : i+2]))
		}
		return len(runes) - 1
	}
	common := 0
	n := pairs(a, func(p string) { count[p]++ })
	n += pairs(b, func(p string) {
		if count[p] > 0 {
			count[p]--
			common++
		}
	})
	return 2 * float64(common) / float64(n)
}

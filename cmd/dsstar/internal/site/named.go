package site

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
)

// Allows reports whether the user has named a real path, or a folder around it, for cells to read.
func Allows(s *configs.Settings, real string) bool {
	return slices.ContainsFunc(slices.Concat(s.AllowRead, s.AllowWrite), func(path string) bool {
		abs, err := filepath.Abs(path)
		return err == nil && disk.Inside(disk.RealPath(abs), real)
	})
}

// Named returns an error if a notebook that another dsstar made, in a folder, names data elsewhere that
// the user has not named.
func Named(s *configs.Settings, folder string, paths ...string) error {
	var strays []string
	hidden := false
	for _, path := range paths {
		real := disk.RealPath(path)
		if path != "" && !disk.Inside(disk.RealPath(folder), real) && !Allows(s, real) {
			strays, hidden = append(strays, real), hidden || !sandbox.MayAdvise(real)
		}
	}
	if strays == nil {
		return nil
	}
	for _, path := range strays {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return usage.New("the data of this notebook are not at "+ui.Printable(path)+": set data_dir in "+
				"its parameters cell to where they are", usage.Shell("ls -d %s", disk.Existing(path)))
		}
	}
	hint := allowRead(s, strays...).Note("if you mean these data")
	if hidden { // the notebook may be made for somebody who pastes what stands there
		hint = allowRead(s, "PATH").Note("PATH: those data, if you mean them")
	}
	return usage.New("another dsstar made this notebook, and its data are not in its folder: "+
		ui.Printable(strings.Join(strays, ", ")), hint)
}

// allowRead returns the command line that failed with more that cells may read.
func allowRead(s *configs.Settings, more ...string) usage.Hint {
	var flags []string
	for _, path := range slices.Concat(s.AllowRead, s.AllowDatabases, more) {
		flags = append(flags, "--allow-read", path)
	}
	return usage.Again(flags...)
}

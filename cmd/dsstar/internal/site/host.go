package site

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A Host is this machine with the user's environment.
type Host struct {
	Env      []string
	CacheDir string // dsstar's, in the user's cache folder
	// Managed has cells run in the managed environment, also if the program is installed in another.
	Managed bool
	// Databases are those that cells reach.
	Databases []Database
	Cells     Cells // of tests; nil: kernels of this machine
}

// Cells run the cells and the script of a run in place of new local kernels.
type Cells interface {
	Open(kernel.Options) (agent.Session, error)
	RunScript(context.Context, kernel.Options) (notebook.Execution, error)
}

// Getenv returns a variable of the environment.
func (h Host) Getenv(name string) string { return disk.Getenv(h.Env, name) }

// Private reports whether cells must not read a folder just because a notebook names it: the
// notebook may come from somebody else. The demo's data folder is exempt.
func (h Host) Private(folder string) bool {
	demo := strings.HasPrefix(disk.RealPath(filepath.Clean(folder)),
		disk.RealPath(h.CacheDir)+"/demo-")
	return !demo && sandbox.Private(folder)
}

// Allows reports whether the user has named a real path, or a folder around it, for cells to read.
func Allows(s *configs.Settings, real string) bool {
	return slices.ContainsFunc(slices.Concat(s.AllowRead, s.AllowWrite), func(path string) bool {
		return disk.Inside(disk.RealPath(disk.Absolute(path)), real)
	})
}

// Named returns an error if a notebook that another dsstar made, in a folder, names data elsewhere
// that the user has not named.
func Named(s *configs.Settings, folder string, paths ...string) error {
	var strays []string
	for _, path := range paths {
		real := disk.RealPath(path)
		if path != "" && !disk.Inside(disk.RealPath(folder), real) && !Allows(s, real) {
			strays = append(strays, real)
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
	hidden := func(path string) bool { return !sandbox.MayAdvise(path) }
	if slices.ContainsFunc(strays, hidden) {
		// the notebook may be made for somebody who pastes what stands there
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

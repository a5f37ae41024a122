package site

import (
	"context"
	"path/filepath"
	"strings"

	"dsstar/agent"
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
func (h Host) Getenv(name string) string {
	value, _ := h.LookupEnv(name)
	return value
}

// LookupEnv is Getenv, and reports whether the variable is set. The last entry wins.
func (h Host) LookupEnv(name string) (string, bool) {
	for i := len(h.Env) - 1; i >= 0; i-- {
		if key, value, _ := strings.Cut(h.Env[i], "="); key == name {
			return value, true
		}
	}
	return "", false
}

// Private reports whether cells must not read a folder just because a notebook names it: the
// notebook may come from somebody else. The demo's data folder is exempt.
func (h Host) Private(folder string) bool {
	demo := strings.HasPrefix(disk.RealPath(filepath.Clean(folder)),
		disk.RealPath(h.CacheDir)+"/demo-")
	return !demo && sandbox.Private(folder)
}

package pyenv

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"dsstar/notebook/disk"
)

// minor is the version without the patch level.
func (p Python) minor() string { return strings.TrimSuffix(p.Version, path.Ext(p.Version)) }

// A NoPythonError says why no interpreter on PATH is suitable.
type NoPythonError struct {
	// one lacks only venv, which on Debian and Ubuntu is in a separate package, python3-venv
	Venv  bool
	Tried []string // each candidate and what is wrong with it
}

func (e *NoPythonError) Error() string {
	need := fmt.Sprintf("Python 3.%d to 3.%d with venv is needed on PATH", oldest, newest)
	if len(e.Tried) == 0 {
		return need + ", and there is none"
	}
	return need + "; tried " + strings.Join(e.Tried, "; ")
}

// The locks have builds of every package for the minor versions oldest to newest.
const oldest, newest = 10, 14

// candidates returns the programs on env's PATH whose names are those of Pythons, the newest
// version first.
func candidates(env []string) (paths []string) {
	var names []string
	for minor := newest; minor >= oldest; minor-- {
		names = append(names, fmt.Sprintf("python3.%d", minor))
	}
	var targets []string
	for _, name := range append(names, "python3", "python") {
		for _, path := range LookPath(name, env) {
			if target := resolve(path); !slices.Contains(targets, target) {
				paths, targets = append(paths, path), append(targets, target)
			}
		}
	}
	return paths
}

// longestAnswer is how long a candidate may take: one on a lost network share hangs.
const longestAnswer = 20 * time.Second

// find returns the first interpreter on env's PATH of which environments can be made. The error is a
// [*NoPythonError] or that of ctx.
func find(ctx context.Context, env []string) (Python, error) {
	fail := &NoPythonError{}
	for _, path := range candidates(env) {
		short, cancel := context.WithTimeout(ctx, longestAnswer)
		found, err := Describe(short, []string{path}, toolEnv(env), nil, nil)
		cancel()
		if ctx.Err() != nil {
			return Python{}, context.Cause(ctx)
		}
		if err == nil {
			err = found.usable()
		}
		if err == nil && found.Venv {
			return found, nil
		}
		if err == nil {
			fail.Venv, err = true, fmt.Errorf("is %s without venv or ensurepip", found.Version)
		}
		fail.Tried = append(fail.Tried, fmt.Sprintf("%s: %v", path, err))
	}
	return Python{}, fail
}

// usable returns why the lock cannot be installed for p, whether or not it has venv.
func (p Python) usable() error {
	var minor int
	_, _ = fmt.Sscanf(p.Version, "3.%d", &minor) // if it cannot be read, 0 counts as old
	if p.Implementation != "cpython" {
		return fmt.Errorf("is %s, not CPython", p.Implementation)
	}
	if minor < oldest || minor > newest {
		return fmt.Errorf("is %s", p.Version)
	}
	return nil
}

// LookPath returns all programs of a name in the folders of env's PATH. The first may be the shim
// of a version that is not enabled.
func LookPath(name string, env []string) []string {
	return disk.LookPath(name, disk.Getenv(env, "PATH"))
}

package pyenv

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/notebook/disk"
)

// minor is the version without the patch level.
func (p Python) minor() string {
	parts := strings.SplitN(p.Version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// A NoPythonError says why no interpreter on PATH is suitable.
type NoPythonError struct {
	Problem Problem
	Tried   []string // each candidate and what is wrong with it
}

// A Problem is what the user must solve. Later ones are closer to a usable Python.
type Problem string

const (
	ProblemMissing Problem = "no Python found"
	ProblemOld     Problem = "Python is too old"
	ProblemNew     Problem = "Python is too new"
	// on Debian and Ubuntu venv is in a separate package, python3-venv
	ProblemVenv Problem = "Python has no venv"
)

func (e *NoPythonError) Error() string {
	need := fmt.Sprintf("%s: Python 3.%d to 3.%d with venv is needed on PATH", e.Problem, oldest,
		newest)
	if len(e.Tried) == 0 {
		return need
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
	seen := map[string]bool{}
	for _, name := range append(names, "python3", "python") {
		for _, path := range lookAll(name, env) {
			if target := resolve(path); !seen[target] {
				seen[target] = true
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// Find returns the first interpreter on env's PATH that can create environments. It takes one
// without venv only if uv is installed and there is no other. The error is a [*NoPythonError] or
// that of ctx.
func Find(ctx context.Context, env []string) (Python, error) {
	fail := &NoPythonError{Problem: ProblemMissing}
	_, haveUV := lookPath("uv", env)
	var bare Python // usable, except that it lacks venv
	for _, path := range candidates(env) {
		found, err := Describe(ctx, []string{path}, toolEnv(env), nil, nil)
		if ctx.Err() != nil {
			return Python{}, context.Cause(ctx)
		}
		if err == nil && found.Implementation != "cpython" {
			err = fmt.Errorf("is %s, not CPython", found.Implementation)
		}
		if err != nil {
			fail.Tried = append(fail.Tried, fmt.Sprintf("%s: %v", path, err))
			continue
		}
		problem := found.problem()
		if problem == "" {
			return found, nil
		}
		if problem == ProblemVenv && bare.Path == "" {
			bare = found
		}
		fail.add(path, found, problem)
	}
	if haveUV && bare.Path != "" {
		return bare, nil
	}
	return Python{}, fail
}

// add records a candidate. The overall problem is that of the closest one.
func (e *NoPythonError) add(path string, found Python, problem Problem) {
	order := []Problem{ProblemMissing, ProblemOld, ProblemNew, ProblemVenv}
	if slices.Index(order, problem) > slices.Index(order, e.Problem) {
		e.Problem = problem
	}
	what := "is " + found.Version
	if problem == ProblemVenv {
		what += " without venv or ensurepip"
	}
	e.Tried = append(e.Tried, path+": "+what)
}

// problem returns why p cannot be used, "" if it can.
func (p Python) problem() Problem {
	var minor int
	_, _ = fmt.Sscanf(p.Version, "3.%d", &minor) // if it cannot be read, 0 counts as old
	switch {
	case minor < oldest:
		return ProblemOld
	case minor > newest:
		return ProblemNew
	case !p.Venv:
		return ProblemVenv
	}
	return ""
}

// lookPath is exec.LookPath with the PATH of env.
func lookPath(name string, env []string) (string, bool) {
	all := lookAll(name, env)
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// lookAll returns all matches: the first may be the shim of a version that is not enabled.
func lookAll(name string, env []string) []string {
	return disk.LookPath(name, getenv(env, "PATH"))
}

package pyenv

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/notebook/disk"
)

// Interpreter is a Python that can create environments.
type Interpreter struct {
	Path    string
	Version string // such as 3.12.1
	Venv    bool   // it has venv and ensurepip; if not, only uv can use it
}

func (i Interpreter) minor() string {
	parts := strings.SplitN(i.Version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// A NoPythonError says why no interpreter on PATH is suitable.
type NoPythonError struct {
	Problem Problem
	Version string   // of the interpreter that came closest; "" if none was found
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
func candidates(env []string) []string {
	var names, paths []string
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
func Find(ctx context.Context, env []string) (Interpreter, error) {
	fail := &NoPythonError{Problem: ProblemMissing}
	_, haveUV := lookPath("uv", env)
	var bare Interpreter // usable, except that it lacks venv
	for _, path := range candidates(env) {
		found, err := probe(ctx, path, env)
		if ctx.Err() != nil {
			return Interpreter{}, context.Cause(ctx)
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
	return Interpreter{}, fail
}

// add records a candidate. The overall problem is that of the closest one.
func (e *NoPythonError) add(path string, found Interpreter, problem Problem) {
	order := []Problem{ProblemMissing, ProblemOld, ProblemNew, ProblemVenv}
	if slices.Index(order, problem) > slices.Index(order, e.Problem) {
		e.Problem, e.Version = problem, found.Version
	}
	what := "is " + found.Version
	if problem == ProblemVenv {
		what += " without venv or ensurepip"
	}
	e.Tried = append(e.Tried, path+": "+what)
}

// problem returns why i cannot be used, "" if it can.
func (i Interpreter) problem() Problem {
	var minor int
	_, _ = fmt.Sscanf(i.Version, "3.%d", &minor) // if it cannot be read, 0 counts as old
	switch {
	case minor < oldest:
		return ProblemOld
	case minor > newest:
		return ProblemNew
	case !i.Venv:
		return ProblemVenv
	}
	return ""
}

// probeCode prints, for a virtual environment, the path of the interpreter that created it, for a shim
// that of the real one.
const probeCode = `import sys
from importlib.util import find_spec
print("dsstar|%d.%d.%d|%s|%s|%s" % (sys.version_info[:3] + (
    sys.implementation.name, bool(find_spec("venv") and find_spec("ensurepip")),
    getattr(sys, "_base_executable", "") or sys.executable)))
`

// probe asks an interpreter for its version and kind.
func probe(ctx context.Context, path string, env []string) (Interpreter, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := Ask(ctx, env, path, probeCode)
	if err != nil {
		return Interpreter{}, err
	}
	for line := range strings.Lines(string(out)) {
		part := strings.SplitN(strings.TrimRight(line, "\r\n"), "|", 5)
		if len(part) != 5 || part[0] != "dsstar" {
			continue
		}
		if part[2] != "cpython" {
			return Interpreter{}, fmt.Errorf("is %s, not CPython", part[2])
		}
		return Interpreter{Path: part[4], Version: part[1], Venv: part[3] == "True"}, nil
	}
	return Interpreter{}, fmt.Errorf("does not answer like Python")
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

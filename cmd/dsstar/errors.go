package main

import (
	"errors"
	"fmt"
	"strings"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
)

// A usageError is a command line that cannot be carried out as it stands.
type usageError struct {
	text  string
	hints []string // commands to paste
}

func (e *usageError) Error() string { return e.text }

// silent ends the program with a code after everything has been said.
type silent struct{ code int }

func (e silent) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// interrupted is what the user is told after Ctrl-C.
func interrupted(err error) error {
	if s, ok := errors.AsType[*stoppedError](err); ok {
		return &stoppedError{errInterrupted, s.folder}
	}
	return errInterrupted
}

var errInterrupted = errors.New("interrupted")

// report writes the error and its hints to stderr and returns the exit code.
func (a *app) report(err error) int {
	code, text, hints := explain(err)
	fmt.Fprintf(a.stderr, "dsstar: error: %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
	for _, hint := range hints {
		fmt.Fprintf(a.stderr, "dsstar: hint: %s\n", hint)
	}
	return code
}

// explain maps an error to its exit code, its text and what to do about it.
// This is the one place that does so.
func explain(err error) (code int, text string, hints []string) {
	text = err.Error()
	if u, ok := errors.AsType[*usageError](err); ok {
		return exitUsage, text, u.hints
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted, text, nil
	}
	if c, ok := errors.AsType[*llm.CredentialError](err); ok {
		if c.KeyEnv != "" {
			hints = []string{"export " + c.KeyEnv + "=KEY", "dsstar doctor   # tries the key"}
		}
		return exitCredentials, text, hints
	}
	if s, ok := errors.AsType[*llm.StatusError](err); ok {
		return exitError, text, statusHints(s)
	}
	if errors.Is(err, agent.ErrInUse) {
		return exitUsage, text, []string{"mktemp -d   # gives a new folder for --out"}
	}
	if s, ok := errors.AsType[*kernel.SpecNotFoundError](err); ok {
		for _, name := range s.Available {
			hints = append(hints, "dsstar nb --kernel "+name+` --data DIR "question"`)
		}
		return exitUsage, text, append(hints, `dsstar nb --data DIR "question"   # without --kernel: the Python that dsstar sets up itself`)
	}
	return exitError, text, otherHints(err)
}

func statusHints(s *llm.StatusError) []string {
	switch {
	case errors.Is(s, llm.ErrContextLength):
		return []string{"export DSSTAR_CONTEXT_CHARS=60000 DSSTAR_DESCRIPTION_CHARS=6000 DSSTAR_RESULT_CHARS=4000   # show the model less"}
	case s.Status == 404:
		return []string{"dsstar config   # shows the model and the base URL", "dsstar doctor   # asks the endpoint which models it has"}
	case s.Status == 429:
		return []string{"dsstar nb --model PROVIDER/MODEL …   # another model, or wait a while"}
	}
	return nil
}

func otherHints(err error) []string {
	if n, ok := errors.AsType[*pyenv.NoPythonError](err); ok {
		return pythonHints(n)
	}
	if i, ok := errors.AsType[*pyenv.InstallError](err); ok {
		switch i.Reason {
		case pyenv.ReasonNetwork:
			return []string{"export PIP_INDEX_URL=URL   # a mirror of the package index",
				`dsstar nb --python PATH --data DIR "question"   # an environment of your own`}
		case pyenv.ReasonDisk:
			return []string{"export XDG_CACHE_HOME=DIR   # a folder with 2 GB to spare"}
		}
		return []string{`dsstar nb --python PATH --data DIR "question"   # an environment of your own`}
	}
	if _, ok := errors.AsType[*llm.ReplayError](err); ok {
		return []string{
			"dsstar doctor   # a cell that fails here and did not in the recording makes other requests",
			`dsstar nb --model PROVIDER/MODEL --data DIR "question"   # records a new trace`,
		}
	}
	if _, ok := errors.AsType[*llm.ConnectionError](err); ok {
		return []string{"dsstar doctor   # tries the endpoint"}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return []string{"wsl --install   # dsstar runs kernels on Linux and macOS, and so on Windows in WSL"}
	}
	return nil
}

func pythonHints(n *pyenv.NoPythonError) []string {
	if n.Problem == pyenv.ProblemVenv {
		return []string{"apt-get install python3-venv   # Debian, Ubuntu", "pip install uv   # or this, anywhere"}
	}
	return []string{
		"apt-get install python3 python3-venv   # Debian, Ubuntu",
		"brew install python                    # macOS",
		`dsstar nb --python PATH --data DIR "question"   # an interpreter that has ipykernel, numpy and pandas`,
	}
}

package main

import (
	"context"
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
	if errors.Is(err, context.Canceled) {
		return exitInterrupted, "interrupted", nil
	}
	if c, ok := errors.AsType[*llm.CredentialError](err); ok {
		if c.KeyEnv != "" {
			hints = []string{"export " + c.KeyEnv + "=…", "dsstar doctor"}
		}
		return exitCredentials, text, hints
	}
	if s, ok := errors.AsType[*llm.StatusError](err); ok {
		return exitError, text, statusHints(s)
	}
	if errors.Is(err, agent.ErrInUse) {
		return exitUsage, text, []string{"name an empty or a new folder: --out DIR"}
	}
	if s, ok := errors.AsType[*kernel.SpecNotFoundError](err); ok {
		for _, name := range s.Available {
			hints = append(hints, "dsstar nb --kernel "+name+" …")
		}
		return exitUsage, text, append(hints, "leave out --kernel to use the Python that dsstar sets up itself")
	}
	return exitError, text, otherHints(err)
}

func statusHints(s *llm.StatusError) []string {
	switch {
	case errors.Is(s, llm.ErrContextLength):
		return []string{"DSSTAR_CONTEXT_CHARS=60000 DSSTAR_RESULT_CHARS=4000 dsstar nb …"}
	case s.Status == 404:
		return []string{"check the model's name and --base-url; dsstar config shows both"}
	case s.Status == 429:
		return []string{"wait a while, or choose another model with --model provider/name"}
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
			return []string{"check the network, or name a package mirror: export PIP_INDEX_URL=…",
				"use an environment of your own: dsstar nb --python PATH …"}
		case pyenv.ReasonDisk:
			return []string{"free about 2 GB, or put the cache elsewhere: export XDG_CACHE_HOME=DIR"}
		}
		return []string{"use an environment of your own: dsstar nb --python PATH …"}
	}
	if _, ok := errors.AsType[*llm.ReplayError](err); ok {
		return []string{"record a new trace: run with a model instead of replay:"}
	}
	if _, ok := errors.AsType[*llm.ConnectionError](err); ok {
		return []string{"check that the endpoint runs and that --base-url is right; dsstar doctor tries it"}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return []string{"run dsstar on Linux or macOS"}
	}
	return nil
}

func pythonHints(n *pyenv.NoPythonError) []string {
	if n.Problem == pyenv.ProblemVenv {
		return []string{"apt-get install python3-venv", "or install uv: pip install uv"}
	}
	return []string{
		"apt-get install python3 python3-venv   # Debian, Ubuntu",
		"brew install python                    # macOS",
		"or name an interpreter that has ipykernel: dsstar nb --python PATH …",
	}
}

package pyenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// InstallError says that a tool could not build the environment, in the tool's own words.
type InstallError struct {
	Tool   string // what was run: uv venv, uv pip install, venv, pip install
	Reason Reason // "" if unknown
	Output string // the last lines that the tool wrote
	Err    error
}

// A Reason is why an installation failed, according to the tool's output.
type Reason string

const (
	ReasonNetwork Reason = "the package index cannot be reached"
	ReasonHash    Reason = "a package does not match its hash"
	ReasonDisk    Reason = "the disk is full"
	ReasonFolder  Reason = "the folder of environments cannot be written to"
	ReasonWheel   Reason = "a package has no build for this Python or system"
)

func (e *InstallError) Error() string {
	why := e.Err.Error()
	if e.Reason != "" {
		why = string(e.Reason)
	}
	if e.Output == "" {
		return fmt.Sprintf("create the Python environment: %s: %s", e.Tool, why)
	}
	return fmt.Sprintf("create the Python environment: %s: %s\n%s", e.Tool, why, e.Output)
}

func (e *InstallError) Unwrap() error { return e.Err }

// reasons are tried in this order: a full disk also breaks downloads.
var reasons = [...]struct {
	reason Reason
	words  []string
}{
	{ReasonDisk, []string{"no space left", "disk quota", "not enough space"}},
	{ReasonHash, []string{"do not match the hashes", "hash mismatch", "hash did not match"}},
	{ReasonNetwork, []string{"newconnectionerror", "name resolution", "dns error",
		"connection refused", "network is unreachable",
		"timed out", "timeout", "failed to fetch", "proxyerror", "sslerror", "certificate",
		"client error (connect)", "max retries"}},
	{ReasonWheel, []string{"no matching distribution", "no usable wheels",
		"no wheels with a matching"}},
}

func reasonOf(output string) Reason {
	output = strings.ToLower(output)
	for _, r := range reasons {
		for _, w := range r.words {
			if strings.Contains(output, w) {
				return r.reason
			}
		}
	}
	return ""
}

// A runner runs the tools that build one environment.
type runner struct {
	env  []string
	dir  string
	tell *teller
	lock *os.File // also held by the tools, should dsstar be killed before they end
}

func (r runner) run(ctx context.Context, what, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	ownGroup(cmd)
	lend(cmd, r.lock)
	cmd.WaitDelay = 3 * time.Second
	var last tail
	last.each = r.tell.line
	cmd.Stdout, cmd.Stderr = &last, &last
	stop := r.tell.stillAlive()
	err := cmd.Run()
	stop()
	if ctx.Err() != nil {
		killGroup(cmd)
		return context.Cause(ctx)
	}
	if err != nil {
		output := last.String()
		return &InstallError{Tool: what, Reason: reasonOf(output), Output: output, Err: err}
	}
	return nil
}

// Ask runs code, which must be dsstar's own, in a Python outside the sandbox and returns what it
// prints. It runs in an empty temporary folder and ignores PYTHONPATH and the like: the current
// folder may be a stranger's, and a contextlib.py in it would run with the user's rights. env
// should contain no credentials. The error is the last line of Python's stderr, if any.
func Ask(ctx context.Context, env []string, path, code string, args ...string) ([]byte, error) {
	empty, err := os.MkdirTemp("", "dsstar-ask-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(empty)
	// Not -I: Python 2 does not know it, and it hides packages installed for the user alone.
	cmd := exec.CommandContext(ctx, path, append([]string{"-E", "-c", code}, args...)...)
	cmd.Env, cmd.Dir = toolEnv(env), empty
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	var last tail
	cmd.Stderr = &last
	out, err := cmd.Output()
	if err != nil {
		if line := last.line(); line != "" {
			return nil, errors.New(line)
		}
		return nil, err
	}
	return out, nil
}

// tail keeps the last lines written to it. It must not be used concurrently.
type tail struct {
	each  func(line string)
	rest  string
	lines []string
}

const tailLines = 12

func (t *tail) Write(p []byte) (int, error) {
	text := t.rest + string(p)
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		t.add(line)
		text = rest
	}
	t.rest = text[max(0, len(text)-4096):] // bounds an endless line
	return len(p), nil
}

func (t *tail) add(line string) {
	line = strings.TrimRight(line, " \r\t")
	// pip reports each line of the lock file that is for another system.
	if line == "" || strings.HasPrefix(line, "Ignoring ") {
		return
	}
	if len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, line)
	if t.each != nil {
		t.each(line)
	}
}

func (t *tail) String() string {
	t.add(t.rest)
	t.rest = ""
	return strings.Join(t.lines, "\n")
}

func (t *tail) line() string {
	text := t.String()
	return text[strings.LastIndex(text, "\n")+1:]
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

package pyenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// InstallError says that a tool could not build the environment, in the tool's own words.
type InstallError struct {
	Tool   string // what was run: uv venv, uv pip install, venv, pip install
	Output string // the last lines that the tool wrote
	Err    error
}

func (e *InstallError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("create the Python environment: %s: %v\n%s", e.Tool, e.Err, e.Output))
}

func (e *InstallError) Unwrap() error { return e.Err }

// A runner runs the tools that build one environment.
type runner struct {
	env      []string
	dir      string
	progress func(line string)
	lock     *os.File // also held by the tools, should dsstar be killed before they end
}

func (r runner) run(ctx context.Context, what, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	ownGroup(cmd)
	lend(cmd, r.lock)
	cmd.WaitDelay = 3 * time.Second
	var last tail
	cmd.Stdout, cmd.Stderr = &last, &last
	stop := stillAlive(r.progress)
	err := cmd.Run()
	stop()
	if ctx.Err() != nil {
		killGroup(cmd)
		return context.Cause(ctx)
	}
	if err != nil {
		return &InstallError{Tool: what, Output: last.String(), Err: err}
	}
	return nil
}

// stillAlive reports every few seconds that a tool runs, until stop is called.
func stillAlive(progress func(line string)) (stop func()) {
	begun, done := time.Now(), make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				progress(fmt.Sprintf("still creating the Python environment (%.0f s)", now.Sub(begun).Seconds()))
			}
		}
	})
	return func() { close(done); ended.Wait() }
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
	// Not -I, which hides packages installed for the user alone.
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

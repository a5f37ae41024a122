package pyenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"dsstar/notebook/disk"
)

// InstallError says that the environment could not be built, in the words of venv or pip.
type InstallError struct {
	Output string // the last lines
	Err    error
}

func (e *InstallError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("create the Python environment: %v\n%s", e.Err, e.Output))
}

func (e *InstallError) Unwrap() error { return e.Err }

// run runs a tool that builds an environment. The tool holds the lock too, should dsstar be killed
// before it ends.
func (o Options) run(ctx context.Context, lock *os.File, words ...string) error {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Dir = toolEnv(o.Env), o.Dir
	ownGroup(cmd)
	cmd.ExtraFiles = []*os.File{lock}
	cmd.WaitDelay = 3 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	if ctx.Err() != nil {
		if cmd.Process != nil { // some may have survived the interrupt
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return context.Cause(ctx)
	}
	if err != nil {
		return &InstallError{Output: lastLines(output.String(), 12), Err: err}
	}
	return nil
}

// Ask runs a program with code of dsstar's own, outside the sandbox, and returns what it prints. It
// runs in an empty temporary folder: the current folder may be a stranger's, and a contextlib.py in
// it would run with the user's rights. env should contain no credentials. The error is the last
// line of the program's stderr, if any.
func Ask(ctx context.Context, env []string, words ...string) ([]byte, error) {
	empty, err := disk.TempFolder("", "dsstar-ask-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = disk.RemoveTemp(empty) }() // the next sweep removes what is left
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Dir = env, empty
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if line := lastLines(complaints.String(), 1); err != nil && line != "" {
		return nil, errors.New(line)
	}
	return out, err
}

// lastLines returns the last n lines of a tool's output that are not empty. It leaves out what pip
// says of each line of the lock file that is for another system.
func lastLines(output string, n int) string {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "Ignoring ")
	})
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

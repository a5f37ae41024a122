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

// toolEnv returns env without variables that direct pip to another environment.
func toolEnv(env []string) []string {
	others := []string{"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV",
		"__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_REQUIREMENT",
		"PIP_CONSTRAINT", "PIP_NO_BINARY"}
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(others, strings.ToUpper(name))
	})
	return append(out, "PIP_USER=0", "PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_NO_COLOR=1", "NO_COLOR=1", "PYTHONUNBUFFERED=1")
}

// ownGroup makes cmd lead a process group, which is interrupted as a whole: pip starts processes.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}

// lockFile takes the lock. If it must wait, it calls waiting once. Closing the file releases the
// lock, unless a process that has the file too is still alive: a flock belongs to the open file.
func lockFile(ctx context.Context, path string, waiting func()) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close()
			return nil, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

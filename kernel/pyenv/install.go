package pyenv

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// packages are pip's words for exactly the lock: nothing unlisted, nothing without a hash, and no
// package that must be compiled, which would run its code and take minutes before it fails.
func packages(dir string) []string {
	return []string{interpreter(dir), "-I", "-m", "pip", "install", "--requirement", lockIn(dir),
		"--require-hashes", "--no-deps", "--only-binary", ":all:"}
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

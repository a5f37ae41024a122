package pyenv

import (
	"context"
	"os/exec"
	"strconv"
	"time"

	"github.com/gofrs/flock"
)

// ownGroup makes cancelling cmd kill its children too: Windows has no process groups to signal.
func ownGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

func killGroup(*exec.Cmd) {}

func lend(*exec.Cmd, heldLock) {} // handles are not inherited

// heldLock is a lock that is held until it is closed.
type heldLock = *flock.Flock

// lockFile takes the lock. If it must wait, it calls waiting once. Closing releases the lock.
func lockFile(ctx context.Context, path string, waiting func()) (heldLock, error) {
	lock := flock.New(path)
	ok, err := lock.TryLock()
	if err == nil && !ok {
		waiting()
		_, err = lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	return lock, err
}

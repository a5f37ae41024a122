//go:build amd64 || arm64

package sandbox

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dsstar/kernel/internal/guard"
)

// watchCommand starts the guard proper.
const watchCommand = "__sandbox-watch"

// report returns where the guard writes why it killed the processes. The program does not inherit
// the descriptor.
func (st stage) report() *os.File {
	if !st.Reports {
		return os.Stderr
	}
	const descriptor = 3
	unix.CloseOnExec(descriptor)
	return os.NewFile(descriptor, "report")
}

// keep starts the guard and exits with its status. If the guard is killed, its orphans are
// re-parented to this process, which kills them; if this process is killed, the guard gets SIGTERM.
// keep returns only on an error.
func (st stage) keep(file string) error {
	signals, err := adopt()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, watchCommand, file)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", os.Environ(), os.Stdout, os.Stderr
	if st.Reports {
		cmd.ExtraFiles = []*os.File{st.report()}
	}
	// A process group of its own: a kill of this process's group must not hit both.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGTERM}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan unix.WaitStatus, 1)
	go reap(cmd.Process.Pid, ended)
	var late <-chan time.Time
	for {
		select {
		case status := <-ended:
			killAll()
			endLike(status)
		case <-signals:
			_ = cmd.Process.Signal(unix.SIGTERM)
			if late == nil {
				late = time.After(guard.EndsWithin * 3 / 4) // leaves time to kill what remains
			}
		case <-late:
			_ = cmd.Process.Kill()
		}
	}
}

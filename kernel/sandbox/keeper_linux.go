//go:build amd64 || arm64

package sandbox

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchCommand starts the guard proper.
const watchCommand = "__sandbox-watch"

// report is where the guard says why it has ended the processes. The program does not inherit it.
func (st stage) report() *os.File {
	if !st.Reports {
		return os.Stderr
	}
	const descriptor = 3
	unix.CloseOnExec(descriptor)
	return os.NewFile(descriptor, "report")
}

// keep starts the guard, ends as it has ended, and does its last duty if it could not: whatever has left its parents is
// nobody's child when the guard is killed, and then this process's. Should this one be killed, the guard is told to end.
// It does not return but on an error.
func (st stage) keep(file string) error {
	runtime.LockOSThread() // the guard is told when the thread ends that has started it
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP)
	signal.Ignore(unix.SIGINT) // it is for the program
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, watchCommand, file)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", os.Environ(), os.Stdout, os.Stderr
	if st.Reports {
		cmd.ExtraFiles = []*os.File{st.report()}
	}
	// A group of its own: what kills the group of this process is not to kill both.
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
			watch{stage: st}.end()
			endLike(status)
		case <-signals:
			_ = cmd.Process.Signal(unix.SIGTERM)
			if late == nil {
				late = time.After(EndsWithin * 3 / 4) // so that time is left
			}
		case <-late:
			_ = cmd.Process.Kill()
		}
	}
}

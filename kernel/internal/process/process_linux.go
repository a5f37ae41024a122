package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has Linux kill the kernel, or send SIGTERM to its guard, when this program ends,
// for whatever reason.
func dieWithParent(attr *syscall.SysProcAttr, guard bool) {
	if attr.Pdeathsig = syscall.SIGKILL; guard {
		attr.Pdeathsig = syscall.SIGTERM
	}
}

// reap waits for the end of cmd, calls ended while the process is a zombie, and then waits for it.
// The zombie holds the id of its process group, so that signals sent by ended cannot hit others.
func reap(cmd *exec.Cmd, ended func()) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	ended()
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
}

package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives cmd a session and process group of its own, so that Ctrl-C at the terminal does not
// reach the kernel and one signal reaches all of it. It ends when this program does.
func isolate(cmd *exec.Cmd, guard bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr, guard)
}

// These fail only if the group is gone already.
func interruptGroup(pid int) { _ = unix.Kill(-pid, unix.SIGINT) }
func killGroup(pid int)      { _ = unix.Kill(-pid, unix.SIGKILL) }
func endProcess(pid int)     { _ = unix.Kill(pid, unix.SIGTERM) }

// describe says how a process ended.
func describe(state *os.ProcessState) string {
	if state == nil {
		return "it could not be waited for"
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		sig := status.Signal()
		if unix.SignalName(sig) == "" { // a real-time signal
			return fmt.Sprintf("killed by signal %d", int(sig))
		}
		return fmt.Sprintf("killed by signal %d (%s)", int(sig), unix.SignalName(sig))
	}
	return state.String()
}

// killed reports whether a process ended as Kill ends it, and not by itself just before.
func killed(state *os.ProcessState, guard bool) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return false
	case guard:
		return status.ExitStatus() == 128+int(unix.SIGTERM) || status.Signal() == unix.SIGTERM
	default:
		return status.Signal() == unix.SIGKILL
	}
}

// Exists reports whether there is a process with this id, whoever owns it.
func Exists(pid int) bool { return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH }

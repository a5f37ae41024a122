//go:build !linux

package process

import (
	"os/exec"
	"syscall"
)

// dieWithParent: no such thing here. ipykernel itself watches JPY_PARENT_PID.
func dieWithParent(*syscall.SysProcAttr, bool) {}

// reap waits for the end of cmd and calls ended. The id of the process group could have been reused
// only if the group is empty and the ids wrapped around in that instant.
func reap(cmd *exec.Cmd, ended func()) {
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
	ended()
}

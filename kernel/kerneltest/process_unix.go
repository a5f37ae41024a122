//go:build unix

package kerneltest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// startChildren starts two processes that outlive a kernel which is careless.
// They hold its stderr open, as the children of real kernels do.
func startChildren() ([]int, error) {
	var pids []int
	for _, session := range []bool{false, true} {
		cmd := exec.Command("sleep", "600")
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
		if err := cmd.Start(); err != nil {
			return pids, err
		}
		pids = append(pids, cmd.Process.Pid)
	}
	return pids, nil
}

func ownSession(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}

// killGroup kills a process group, which may be gone already.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// ended reports whether a child has ended, without a goroutine that waits. It
// takes its state away from whoever waits later.
func ended(pid int) bool {
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return got == pid || err == syscall.ECHILD
}

// killMarked kills the processes in whose environment is text, and returns
// those that are there after two seconds. It finds none where there is no
// /proc: kernels there end themselves when their server has gone.
func killMarked(text string) (left []int) {
	for range 100 {
		if left = marked(text); len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

// marked lists the processes in whose environment is text. A process that has
// ended has no environment.
func marked(text string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(b, []byte(text)) {
			continue // most are somebody else's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

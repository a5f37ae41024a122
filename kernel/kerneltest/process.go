package kerneltest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// killGroup kills a process group, which may have ended already.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// ended reports whether a child has ended, without a waiting goroutine. It reaps the child: a
// later wait fails.
func ended(pid int) bool {
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return got == pid || err == syscall.ECHILD
}

// killMarked kills the processes with text in their environment and returns those left after
// two seconds. Without /proc it finds none: kernels there end with their server.
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

// marked lists the processes with text in their environment. An ended process has none.
func marked(text string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(b, []byte(text)) {
			continue // most belong to other users
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

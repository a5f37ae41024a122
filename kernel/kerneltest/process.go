package kerneltest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killMarked kills the processes with text in their environment and returns those left after
// two seconds. Without /proc it finds none: kernels there end with their server.
func killMarked(text string) (left []int) {
	for range 100 {
		if left = With(text, "environ"); len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

// With lists the processes with text in a file of theirs in /proc: environ, cmdline. An ended
// process has none.
func With(text, file string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/" + file) // the pattern is valid
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

// State returns the state of a process, such as "Z" for a zombie; "" if there is none.
func State(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil && syscall.Kill(pid, 0) == nil {
		return "?" // there is no /proc
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	state, _, _ := strings.Cut(after, " ")
	return state
}

// Gone waits for a process to end.
func Gone(t testing.TB, pid int) {
	t.Helper()
	for range 3000 { // on a busy machine a process takes seconds to end
		if s := State(pid); s == "" || s == "Z" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

package site

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"dsstar/kernel"
)

// Within reports whether this process was started by a cell of the user's kernel, directly or by way
// of a shell. Such a cell would wait for a run that waits for the kernel. Without /proc it relies on
// the variable by which Jupyter tells a kernel its notebook.
func (h Host) Within(k kernel.Running) bool {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		session := h.Getenv("JPY_SESSION_NAME")
		return session != "" && filepath.Base(session) == filepath.Base(k.Notebook)
	}
	for pid := os.Getppid(); pid > 1 && k.File != ""; pid = parentOf(pid) {
		argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(argv, []byte(filepath.Base(k.File))) {
			return true
		}
	}
	return false
}

// parentOf returns the parent of a process; 0 if it cannot be read.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// PID (NAME) STATE PARENT …, where NAME may have any characters
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1])) // 0 ends the search
	return parent
}

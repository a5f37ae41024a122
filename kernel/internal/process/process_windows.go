package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// isolate returns an error: on Windows, interrupting and killing a whole kernel needs job objects
// and interrupt events, which are not implemented yet.
func isolate(*exec.Cmd, bool) error {
	return fmt.Errorf("own kernel processes are not supported on Windows yet: %w",
		errors.ErrUnsupported)
}

// These functions are never called, because no process is ever started.

func interruptGroup(int)                 { panic("unreachable") }
func killGroup(int)                      { panic("unreachable") }
func endProcess(int)                     { panic("unreachable") }
func reap(*exec.Cmd, func())             { panic("unreachable") }
func describe(*os.ProcessState) string   { panic("unreachable") }
func killed(*os.ProcessState, bool) bool { panic("unreachable") }

// Exists reports whether there is a process with this id.
func Exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}

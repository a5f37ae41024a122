package kerneltest

import (
	"errors"
	"os/exec"
)

func startChildren() ([]int, error) { return nil, errors.ErrUnsupported }

func ownSession(*exec.Cmd) error { return errors.ErrUnsupported }

// Unreachable: no servers are started on Windows.

func killGroup(int)           { panic("unreachable") }
func ended(int) bool          { panic("unreachable") }
func killMarked(string) []int { panic("unreachable") }

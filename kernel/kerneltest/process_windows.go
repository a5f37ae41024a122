package kerneltest

import (
	"errors"
	"os/exec"
)

func startChildren() ([]int, error) { return nil, errors.ErrUnsupported }

func ownSession(*exec.Cmd) error { return errors.ErrUnsupported }

// What follows is never reached, because no server is ever started.

func killGroup(int)           { panic("unreachable") }
func ended(int) bool          { panic("unreachable") }
func killMarked(string) []int { panic("unreachable") }
func marked(string) []int     { panic("unreachable") }

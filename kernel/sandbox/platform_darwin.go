package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Main carries out the command by which this package tries what its processes
// can do. If args, the program's, are it, it does not return.
func Main(args []string) {
	if len(args) == 3 && args[1] == tryCommand {
		try(args[2])
	}
}

func builtinWorks() error {
	return &MissingError{Builtin, NoLinux, fmt.Errorf("there is none for %s/%s", runtime.GOOS, runtime.GOARCH)}
}
func fullWorks() error { return builtinWorks() }

func (Box) maker() (string, error) { return "", builtinWorks() }

func experimentalWorks() error {
	if _, err := os.Stat(sandboxExec); err != nil {
		return &MissingError{Experimental, NoLinux, errors.New("this macOS has no sandbox-exec")}
	}
	return nil
}

// Landlock returns 0: there is none.
func Landlock() int { return 0 }

var systemAttempts []attempt // those of Linux are about /proc, namespaces and /dev/shm

// systemReads are what its base allows, as far as a cell may be refused to write there.
var systemReads = []string{"/usr", "/bin", "/sbin", "/System", "/Library"}

//go:build !(linux && (amd64 || arm64))

package sandbox

import (
	"fmt"
	"runtime"
)

// Main does nothing here.
func Main([]string) {}

func builtinWorks() error {
	return &MissingError{Builtin, fmt.Errorf("there is none for %s/%s", runtime.GOOS, runtime.GOARCH)}
}

func fullWorks() error { return builtinWorks() }

var systemReads []string

// Landlock returns 0: there is no Landlock.
func Landlock() int { return 0 }

// inodes returns none: only the sandboxes on Linux compare them.
func inodes([]string) (map[string]inode, error) { return nil, nil }

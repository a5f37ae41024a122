//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func builtinWorks() error {
	if Landlock() == 0 {
		return &MissingError{Builtin, ErrNoLandlock}
	}
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		return &MissingError{Builtin, fmt.Errorf("this Linux does not list children of processes "+
			"(CONFIG_PROC_CHILDREN): %w", err)}
	}
	return nil
}

// fullWorks returns why namespaces cannot be made here. It is tried once.
var fullWorks = sync.OnceValue(tryFull)

// tryFull runs /bin/true in full.
func tryFull() error {
	dir, err := os.MkdirTemp("", "dsstar-full-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	st := stage{Box: Box{Tier: Full, Limits: Limits{Memory: 1 << 30}}, Inodes: map[string]inode{},
		Argv: []string{"/bin/true"}, Dir: "/"}
	if st.Write, err = folders([]string{dir}); err != nil {
		return err
	}
	file := filepath.Join(dir, stageFile)
	if err := st.save(file); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := inNamespaces(ctx, self, file, false)
	cmd.WaitDelay = time.Second
	if words, err := cmd.CombinedOutput(); err != nil {
		return notMade(err, string(words))
	}
	return nil
}

// notMade returns why namespaces were not made: err is how the process ended, words is what it said.
func notMade(err error, words string) error {
	// only the first line: Go's runtime then lists its threads
	said, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	if errors.Is(err, unix.EAGAIN) || noProcess.MatchString(said) {
		return ErrProcesses
	}
	return &MissingError{Full, fmt.Errorf("namespaces are refused to this user: %w %s", err, said)}
}

// noProcess matches what programs say that cannot start a process or a thread.
var noProcess = regexp.MustCompile(`(?i)resource temporarily unavailable|create new OS thread`)

//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func builtinWorks() error {
	if Landlock() == 0 {
		return &MissingError{Builtin, NoLandlock, errNoLandlock}
	}
	// Asked for an action that every seccomp filter has.
	action := uint32(unix.SECCOMP_RET_ALLOW)
	if err := actionAvailable(&action); err != nil {
		return &MissingError{Builtin, NoSeccomp, fmt.Errorf("this Linux has no seccomp filters: %w", err)}
	}
	return nil
}

func experimentalWorks() error { return errors.New("experimental is for macOS") }

// findBubblewrap looks where systems install programs, and nowhere that a user or a project could put one.
func findBubblewrap() (string, error) {
	for _, path := range []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"} {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &MissingError{Full, NoBubblewrap, errors.New("bubblewrap is not installed")}
}

// What makes the namespaces of full is tried once.
var (
	ownWork         = sync.OnceValue(func() error { return tryFull("") })
	bubblewrapWorks = sync.OnceValues(func() (string, error) {
		bwrap, err := findBubblewrap()
		if err == nil {
			err = tryFull(bwrap)
		}
		return bwrap, err
	})
)

// maker returns the bubblewrap that makes the namespaces of a box in full; "" is dsstar itself, which comes first.
func (b Box) maker() (bwrap string, err error) {
	if !b.Bubblewrap && ownWork() == nil {
		return "", nil
	}
	return bubblewrapWorks()
}

// fullWorks reports why nothing makes namespaces.
func fullWorks() error {
	_, err := Box{}.maker()
	if missing, ok := errors.AsType[*MissingError](err); ok && missing.Cause == NoBubblewrap {
		own := ownWork()
		cause := whyNoNamespaces()
		if cause == AppArmor { // it would have a profile
			cause = NoBubblewrap
		}
		return &MissingError{Full, cause, fmt.Errorf("%w, and %w", own, err)}
	}
	return err
}

// tryFull has a program start that does nothing, as every other starts, in namespaces of bubblewrap's, or of dsstar's own
// without one.
func tryFull(bwrap string) error {
	dir, err := os.MkdirTemp("", "dsstar-full-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	st := stage{Box: Box{Tier: Full, Limits: Limits{Memory: 1 << 30}}, Argv: []string{"/bin/true"}, Dir: "/"}
	self, err := os.Executable()
	if err == nil {
		st.Write, err = folders([]string{dir})
	}
	file := filepath.Join(dir, stageFile)
	if err == nil {
		err = st.save(file)
	}
	if err != nil {
		return err
	}
	st.Bubblewrap = bwrap
	cmd, err := st.inNamespaces(self, file)
	if err != nil {
		return err
	}
	var words bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &words, &words, time.Second
	if err = cmd.Start(); err == nil {
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		stop()
	}
	if err != nil {
		what := "bubblewrap does not work"
		if bwrap == "" {
			what = "Linux does not let this user make namespaces"
		}
		return &MissingError{Full, whyNoNamespaces(), fmt.Errorf("%s: %w %s", what, err, strings.TrimSpace(words.String()))}
	}
	return nil
}

// inNamespaces returns the command that enters the stage in the namespaces of full.
func (st stage) inNamespaces(self, file string) (*exec.Cmd, error) {
	if st.Bubblewrap == "" {
		return st.ownNamespaces(self, file), nil
	}
	return st.bubblewrap(st.Bubblewrap, self, file)
}

// whyNoNamespaces looks for a setting by which a system keeps namespaces from users.
func whyNoNamespaces() Cause {
	set := func(name, value string) bool {
		b, err := os.ReadFile("/proc/sys/" + name)
		return err == nil && strings.TrimSpace(string(b)) == value
	}
	switch {
	case set("user/max_user_namespaces", "0"):
		return NamespacesOff
	case os.Getuid() == 0:
		return NamespacesRefused // the others are about users
	case set("kernel/unprivileged_userns_clone", "0"):
		return NamespacesOff
	case set("kernel/apparmor_restrict_unprivileged_userns", "1"):
		return AppArmor
	}
	return NamespacesRefused
}

func namespaces(net bool) []string {
	args := []string{"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"}
	if !net {
		args = append(args, "--unshare-net")
	}
	return args
}

// takesSize reports whether a bubblewrap limits folders in memory, as from 0.7 on. Without it they have half of the
// machine's at most, and the guard ends who uses more than the session may.
func takesSize(bwrap string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, bwrap, "--help").CombinedOutput()
	return err != nil || bytes.Contains(out, []byte("--size ")) // an error comes again, with its words
}

// bubblewrap returns the command that enters the stage inside of namespaces.
func (st stage) bubblewrap(bwrap, self, file string) (*exec.Cmd, error) {
	parts, err := st.view(self)
	if err != nil {
		return nil, err
	}
	args := append(namespaces(st.Box.Net), arguments(parts, takesSize(bwrap))...)
	return exec.Command(bwrap, append(args, "--chdir", "/", "--", inside, enterCommand, file)...), nil
}

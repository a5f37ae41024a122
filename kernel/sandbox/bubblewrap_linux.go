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
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func builtinWorks() error {
	if Landlock() == 0 {
		return &MissingError{Builtin, NoLandlock, errNoLandlock}
	}
	// Every version of seccomp filters supports this action.
	action := uint32(unix.SECCOMP_RET_ALLOW)
	if err := actionAvailable(&action); err != nil {
		return &MissingError{Builtin, NoSeccomp, fmt.Errorf("this Linux has no seccomp filters: %w", err)}
	}
	return nil
}

// findBubblewrap searches only the system's program folders, where no project can put another
// bwrap.
func findBubblewrap() (string, error) {
	for _, path := range []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"} {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &MissingError{Full, NoBubblewrap, errors.New("bubblewrap is not installed")}
}

// A way creates the namespaces of full. It is tried once, except for errors that may pass.
type way struct {
	mu    sync.Mutex
	tried bool
	err   error
}

var own, byBubblewrap way

// works returns why the way does not work here, with bwrap or, if that is "", this program.
func (w *way) works(bwrap string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.tried {
		w.err = tryFull(bwrap)
		w.tried = w.err == nil || isMissing(w.err)
	}
	return w.err
}

// maker returns the path of the bubblewrap to use for a box in full; "" means this program, which
// is preferred. The error says why namespaces cannot be created.
func (b Box) maker() (bwrap string, err error) {
	var refused error
	if !b.Bubblewrap {
		if refused = own.works(""); refused == nil || !isMissing(refused) {
			return "", refused
		}
	}
	if bwrap, err = findBubblewrap(); err == nil {
		return bwrap, byBubblewrap.works(bwrap)
	}
	if refused == nil {
		return "", err
	}
	cause := whyNoNamespaces()
	if cause == AppArmor { // it has a profile for bubblewrap
		cause = NoBubblewrap
	}
	return "", &MissingError{Full, cause, fmt.Errorf("%w, and %w", refused, err)}
}

// tryFull runs /bin/true in full, in namespaces of bwrap, or of this program if bwrap is "".
func tryFull(bwrap string) error {
	dir, err := os.MkdirTemp("", "dsstar-full-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	st := stage{Box: Box{Tier: Full, Limits: Limits{Memory: 1 << 30}}, Argv: []string{"/bin/true"},
		Dir: "/"}
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
	if err == nil {
		return nil
	}
	// only the first line: Go's runtime then lists its threads
	said, _, _ := strings.Cut(strings.TrimSpace(words.String()), "\n")
	if errors.Is(err, unix.EAGAIN) || noProcess.MatchString(said) {
		return ErrProcesses
	}
	what := "bubblewrap does not work"
	if bwrap == "" {
		what = "Linux does not let this user make namespaces"
	}
	return &MissingError{Full, whyNoNamespaces(), fmt.Errorf("%s: %w %s", what, err, said)}
}

// noProcess matches what programs say that cannot start a process or a thread.
var noProcess = regexp.MustCompile(`(?i)resource temporarily unavailable|create new OS thread`)

// inNamespaces returns the command that enters the stage in new namespaces.
func (st stage) inNamespaces(self, file string) (*exec.Cmd, error) {
	if st.Bubblewrap == "" {
		return st.ownNamespaces(self, file), nil
	}
	return st.bubblewrap(st.Bubblewrap, self, file)
}

// whyNoNamespaces looks for a setting that prevents users from creating namespaces.
func whyNoNamespaces() Cause {
	set := func(name, value string) bool {
		b, err := os.ReadFile("/proc/sys/" + name)
		return err == nil && strings.TrimSpace(string(b)) == value
	}
	switch {
	case set("user/max_user_namespaces", "0"):
		return NamespacesOff
	case os.Getuid() == 0:
		return NamespacesRefused // the other settings do not apply to root
	case set("kernel/unprivileged_userns_clone", "0"):
		return NamespacesOff
	case set("kernel/apparmor_restrict_unprivileged_userns", "1"):
		return AppArmor
	}
	return NamespacesRefused
}

func namespaces(net bool) []string {
	args := []string{"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"}
	if !net {
		args = append(args, "--unshare-net")
	}
	return args
}

// takesSize reports whether bubblewrap supports --size, as it does since 0.7. Without it a tmpfs is
// limited to half of the machine's memory, and the guard enforces the session's limit.
func takesSize(bwrap string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, bwrap, "--help").CombinedOutput()
	// an error will occur again when bwrap is used, and be reported then
	return err != nil || bytes.Contains(out, []byte("--size "))
}

// bubblewrap returns the command that enters the stage in namespaces of bwrap.
func (st stage) bubblewrap(bwrap, self, file string) (*exec.Cmd, error) {
	parts, err := st.view(self)
	if err != nil {
		return nil, err
	}
	args := append(namespaces(st.Box.Net), arguments(parts, takesSize(bwrap))...)
	return exec.Command(bwrap, append(args, "--chdir", "/", "--", inside, enterCommand, file)...), nil
}

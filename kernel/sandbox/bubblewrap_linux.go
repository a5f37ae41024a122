//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

// inside is where this program is in the namespaces of bubblewrap.
const inside = "/.dsstar"

// findBubblewrap looks where systems install programs, and nowhere that a user or a project could put one.
func findBubblewrap() (string, error) {
	for _, path := range []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"} {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &MissingError{Full, NoBubblewrap, errors.New("bubblewrap is not installed")}
}

// fullWorks tries bubblewrap once.
var fullWorks = sync.OnceValue(func() error {
	bwrap, err := findBubblewrap()
	if err != nil {
		return err
	}
	return tryFull(bwrap)
})

// tryFull has a program start that does nothing, as every other starts.
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
	cmd, err := st.bubblewrap(bwrap, self, file)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...).CombinedOutput()
	if err != nil {
		return &MissingError{Full, whyNoNamespaces(), fmt.Errorf("bubblewrap does not work: %w: %s", err, strings.TrimSpace(string(out)))}
	}
	return nil
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

// memoryFolders are those that are in memory in the full tier.
var memoryFolders = []string{"/tmp", "/dev/shm"}

// bubblewrap returns the command that enters the stage inside of namespaces.
func (st stage) bubblewrap(bwrap, self, file string) (*exec.Cmd, error) {
	// As root bubblewrap leaves /proc/sys writable, and with it core_pattern, which is the machine's.
	args := append(namespaces(st.Box.Net), "--proc", "/proc", "--ro-bind-try", "/proc/sys", "/proc/sys", "--dev", "/dev")
	sized := takesSize(bwrap)
	for _, dir := range memoryFolders {
		if sized {
			args = append(args, "--size", strconv.FormatInt(cmp.Or(st.Box.Limits.Memory, 1<<30), 10))
		}
		args = append(args, "--tmpfs", dir)
	}
	reads := slices.Concat(systemReads, st.Read, st.Named)
	if st.Box.GPU {
		for _, path := range gpuDevices() {
			args = append(args, "--dev-bind-try", path, path)
		}
		reads = append(reads, gpuReads()...)
	}
	for _, path := range reads {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			continue // Landlock allows what is there
		case info.Mode()&os.ModeSymlink != 0 && filepath.Dir(path) == "/": // /bin is /usr/bin
			target, err := os.Readlink(path)
			if err != nil {
				return nil, err
			}
			args = append(args, "--symlink", target, path)
		default:
			args = append(args, "--ro-bind-try", path, path)
		}
	}
	args = append(args, groupBinds()...)
	for _, path := range st.Write {
		args = append(args, "--bind", path, path)
	}
	for _, path := range st.above() {
		args = append(args, "--bind", path, path)
	}
	for _, path := range st.Kept {
		args = append(args, "--ro-bind", path, path)
	}
	for _, path := range st.Sockets {
		if _, err := os.Lstat(path); err == nil { // else it has gone, and its folder cannot be changed
			args = append(args, "--ro-bind-try", "/dev/null", path) // nobody listens there
		}
	}
	args = append(args, "--dir", st.Dir) // which need not be readable
	args = append(args, "--ro-bind", self, inside, "--remount-ro", "/", "--chdir", "/", "--", inside, enterCommand, file)
	return exec.Command(bwrap, args...), nil
}

// above are the folders between those of Write and what is kept in them, the outer first. Mounted on themselves nobody can
// move them, and make others with their names.
func (st stage) above() (all []string) {
	for _, path := range st.Kept {
		for dir := filepath.Dir(path); slices.ContainsFunc(st.Write, func(open string) bool { return dir != open && in(dir, open) }); dir = filepath.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

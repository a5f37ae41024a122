//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func builtinWorks() error {
	if Landlock() == 0 {
		return errNoLandlock
	}
	// Asked for an action that every seccomp filter has.
	action := uint32(unix.SECCOMP_RET_ALLOW)
	if err := actionAvailable(&action); err != nil {
		return fmt.Errorf("this Linux has no seccomp filters: %w", err)
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
	return "", errors.New("bubblewrap is not installed")
}

// fullWorks tries bubblewrap once.
var fullWorks = sync.OnceValue(func() error {
	bwrap, err := findBubblewrap()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	args := append(namespaces(false), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true")
	out, err := exec.CommandContext(ctx, bwrap, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	words := strings.TrimSpace(string(out))
	if b, e := os.ReadFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"); e == nil && strings.TrimSpace(string(b)) == "1" && os.Getuid() != 0 {
		words += " (this system lets only programs with an AppArmor profile make namespaces: install apparmor-profiles)"
	}
	return fmt.Errorf("bubblewrap does not work: %w: %s", err, words)
})

func namespaces(net bool) []string {
	args := []string{"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"}
	if !net {
		args = append(args, "--unshare-net")
	}
	return args
}

// bubblewrap returns the command that enters the stage inside of namespaces.
func (st stage) bubblewrap(self, file string) (*exec.Cmd, error) {
	bwrap, err := findBubblewrap()
	if err != nil {
		return nil, err
	}
	args := append(namespaces(st.Box.Net),
		// As root bubblewrap leaves /proc/sys writable, and with it core_pattern, which is the machine's.
		"--size", "1073741824", "--tmpfs", "/tmp", "--proc", "/proc", "--ro-bind-try", "/proc/sys", "/proc/sys", "--dev", "/dev")
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
	for _, path := range st.Write {
		args = append(args, "--bind", path, path)
	}
	args = append(args, "--dir", st.Dir) // which need not be readable
	args = append(args, "--ro-bind", self, inside, "--remount-ro", "/", "--chdir", "/", "--", inside, enterCommand, file)
	return exec.Command(bwrap, args...), nil
}

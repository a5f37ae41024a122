//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The guard starts this executable as process 1 of new namespaces. That process mounts the view,
// gives up all rights, starts the program and reaps its orphans.

const (
	namespacesCommand = "__sandbox-namespaces"
	initCommand       = "__sandbox-init"
)

// inNamespaces returns the command that enters the stage of a file in new namespaces; net says that
// the network stays the machine's.
func inNamespaces(ctx context.Context, self, file string, net bool) *exec.Cmd {
	cmd := exec.CommandContext(ctx, self, namespacesCommand, file)
	flags := unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS
	if !net {
		flags |= unix.CLONE_NEWNET
	}
	same := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: uintptr(flags), UidMappings: same(os.Getuid()), GidMappings: same(os.Getgid()),
		// To mount, to enable the loopback interface and to drop capabilities; in the new namespace only.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
	}
	return cmd
}

// makeView mounts the view in new namespaces, and continues as their process 1. It returns only on
// an error.
func (st stage) makeView(file string) error {
	runtime.LockOSThread() // rights belong to the thread, and execve turns the thread into the process
	self, err := os.Executable()
	if err != nil {
		return err
	}
	parts, err := st.view(self)
	if err != nil {
		return err
	}
	err = cmp.Or(unix.Sethostname([]byte("sandbox")), st.loopback(), st.mountAll(parts))
	if err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return execute([]string{inside, initCommand, file}, os.Environ())
}

// loopback enables the loopback interface, which is down in a new network namespace.
func (st stage) loopback() error {
	if st.Box.Net {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("loopback interface: %w", err)
	}
	return nil
}

// outer is the mount point of the machine's file system while the view is built.
const outer = "/.outer"

// mountAll builds the view and makes it the root of this process.
func (st stage) mountAll(parts []part) error {
	defer unix.Umask(unix.Umask(0o022))
	for i, p := range parts { // links could lead elsewhere in the view
		if p.kind == bindPart {
			if real, err := filepath.EvalSymlinks(p.from); err == nil {
				parts[i].from = real
			}
		}
	}
	base := st.Write[0] // any folder will do
	// keep these mounts out of the other namespaces
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755")
	}
	if err == nil {
		err = cmp.Or(os.Mkdir(base+outer, 0o700), unix.PivotRoot(base, base+outer), os.Chdir("/"))
	}
	if err != nil {
		return fmt.Errorf("make a file system: %w", err)
	}
	for _, p := range parts {
		if p.kind == readOnlyPart && p.at == "/" {
			if err := cmp.Or(unix.Unmount(outer, unix.MNT_DETACH), os.Remove(outer)); err != nil {
				return fmt.Errorf("leave the machine's file system: %w", err)
			}
		}
		if err := p.mount(); err != nil {
			return fmt.Errorf("mount %s: %w", p.at, err)
		}
	}
	return nil
}

// mount performs one step in building the view.
func (p part) mount() error {
	switch p.kind {
	case newPart:
		return cmp.Or(os.MkdirAll(p.at, 0o755),
			unix.Mount(p.from, p.at, p.from, uintptr(p.flags), p.options))
	case bindPart:
		return p.bind()
	case linkPart:
		return cmp.Or(os.MkdirAll(filepath.Dir(p.at), 0o755), os.Symlink(p.from, p.at))
	case folderPart:
		return os.MkdirAll(p.at, 0o755)
	case readOnlyPart:
		return setAttributes(p.at, unix.MOUNT_ATTR_RDONLY, 0)
	}
	panic("unreachable")
}

// bind mounts from, a path outside, with all mounts below it.
func (p part) bind() error {
	info, err := os.Stat(outer + p.from)
	if p.flags != toWrite && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := makePlace(p.at, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(outer+p.from, p.at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return setAttributes(p.at, p.flags, unix.AT_RECURSIVE)
}

// makePlace creates an empty folder or file as a mount point, unless there is one.
func makePlace(at string, folder bool) error {
	if _, err := os.Stat(at); err == nil {
		return nil
	}
	if folder {
		return os.MkdirAll(at, 0o755)
	}
	return cmp.Or(os.MkdirAll(filepath.Dir(at), 0o755), writeNew(at, nil))
}

// setAttributes adds attributes to a mount.
func setAttributes(at string, attributes uint64, flags uint) error {
	return unix.MountSetattr(unix.AT_FDCWD, at, flags, &unix.MountAttr{Attr_set: attributes})
}

// beProcess1 starts the program, reaps its orphans, and exits with the program's status, which
// kills the rest of the namespace. It returns only on an error.
func (st stage) beProcess1(file string) error {
	runtime.LockOSThread()
	cmd := exec.Command(inside, enterCommand, file)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", os.Environ(), os.Stdout, os.Stderr
	if st.asks() {
		cmd.ExtraFiles = []*os.File{os.NewFile(guardSocket, "guard")}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan unix.WaitStatus, 1)
	go reap(cmd.Process.Pid, ended)
	status := <-ended
	if status.Signaled() { // process 1 cannot kill itself with a signal
		os.Exit(128 + int(status.Signal()))
	}
	os.Exit(status.ExitStatus())
	panic("unreachable")
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
	runtime.LockOSThread() // it is killed when the thread that started it ends
	defer runtime.UnlockOSThread()
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

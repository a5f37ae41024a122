//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"dsstar/kernel/pyenv/pyenvtest"

	"golang.org/x/sys/unix"
)

// Dockerlike takes from the calling thread, and what it starts, what a Docker container lacks: new
// namespaces and mounts (moby, profiles/seccomp/default.json). For tests.
func Dockerlike() error {
	runtime.LockOSThread()
	rules := deny(unix.EPERM, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
		unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
		unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_BPF, unix.SYS_IO_URING_SETUP)
	rules = append(rules, rule{call: unix.SYS_CLONE3, errno: unix.ENOSYS},
		rule{unix.SYS_CLONE, unix.EPERM, []condition{{0, 0x7e020000, 0, true}}})
	program := assemble(rules)
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// required unless root
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// What may pass refuses no tier; anything else says why namespaces are not made.
func TestNotMade(t *testing.T) {
	for _, words := range []string{"fork/exec: Resource temporarily unavailable",
		"runtime: failed to create new OS thread (have 2 already; errno=11)\nfatal error: newosproc"} {
		err := notMade(errors.New("exit status 2"), words)
		if !errors.Is(err, ErrProcesses) || isMissing(err) {
			t.Errorf("%s: %v", words, err)
		}
	}
	err := notMade(errors.New("exit status 1"), "mount /proc: operation not permitted\ngoroutine 1")
	if missing, ok := errors.AsType[*MissingError](err); !ok || missing.Tier != Full ||
		!strings.Contains(err.Error(), "mount /proc") || strings.Contains(err.Error(), "goroutine") {
		t.Error(err)
	}
	t.Setenv("TMPDIR", os.TempDir()+"/missing")
	if err := tryFull(); err == nil || isMissing(err) {
		t.Errorf("without a temporary folder: %v", err)
	}
}

// The ID of an ended process may have been reused.
func TestSignalAllSparesOthers(t *testing.T) {
	ours, other := exec.Command("sh", "-c", "sleep 600 & echo; wait"), exec.Command("sleep", "600")
	out := must(ours.StdoutPipe())
	pyenvtest.OK(t, errors.Join(other.Start(), ours.Start()))
	t.Cleanup(func() { // they may have ended
		signalAll(ours.Process.Pid, descendants(ours.Process.Pid), unix.SIGKILL)
		_, _ = ours.Process.Kill(), other.Process.Kill()
	})
	_ = must(bufio.NewReader(out).ReadString('\n')) // the child has started
	signalAll(ours.Process.Pid, append(descendants(ours.Process.Pid), other.Process.Pid), unix.SIGKILL)
	_ = ours.Wait() // the shell ends after its child
	pyenvtest.OK(t, other.Process.Signal(unix.SIGTERM))
	_ = other.Wait() // it is in the state; of two signals Linux delivers SIGKILL
	if ws := other.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != unix.SIGTERM {
		t.Errorf("a process that is no descendant was ended by %v", ws.Signal())
	}
}

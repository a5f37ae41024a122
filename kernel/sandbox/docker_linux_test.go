//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

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

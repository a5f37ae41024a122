//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Dockerlike limits the calling thread, and what it starts, to the default rights of a Docker
// container: its capabilities, and no namespaces, mounts and the like (moby,
// profiles/seccomp/default.json). For tests.
func Dockerlike() error {
	runtime.LockOSThread()
	const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FSETID |
		1<<unix.CAP_FOWNER | 1<<unix.CAP_MKNOD | 1<<unix.CAP_NET_RAW | 1<<unix.CAP_SETGID |
		1<<unix.CAP_SETUID | 1<<unix.CAP_SETFCAP | 1<<unix.CAP_SETPCAP |
		1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_KILL |
		1<<unix.CAP_AUDIT_WRITE
	rules := deny(unix.EPERM, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
		unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
		unix.SYS_REQUEST_KEY, unix.SYS_IO_URING_SETUP, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_QUOTACTL,
		unix.SYS_OPEN_BY_HANDLE_AT)
	rules = append(rules, rule{call: unix.SYS_CLONE3, errno: unix.ENOSYS},
		rule{unix.SYS_CLONE, unix.EPERM, []condition{{0, 0x7e020000, 0, true}}})
	program := assemble(rules)
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	install := func() unix.Errno {
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
		return errno
	}
	errno := install()
	if errno == unix.EACCES { // required unless root
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		errno = install()
	}
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	for c := uintptr(0); c < 64; c++ {
		if kept>>c&1 == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // missing, or not root
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective, data[0].Permitted, data[0].Inheritable = data[0].Effective&kept,
		data[0].Permitted&kept, 0
	data[1] = unix.CapUserData{}
	return unix.Capset(&header, &data[0])
}

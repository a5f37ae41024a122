package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32       = true // the same architecture has a second table of calls
)

var (
	metadataCalls = []uint32{
		unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_CHOWN,
		unix.SYS_FCHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIME, unix.SYS_UTIMES,
		unix.SYS_FUTIMESAT, unix.SYS_UTIMENSAT,
	}
	attributeCalls = []uint32{
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR,
		unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT,
		unix.SYS_FILE_SETATTR,
	}
	// by call, the argument that has the flags; the next is the mode
	openCalls = map[uint32]int{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2}
	// by call, the argument that has the mode
	chmodCalls = map[uint32]int{unix.SYS_CHMOD: 1, unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2,
		unix.SYS_FCHMODAT2: 2}
	makeCalls    = map[uint32]int{unix.SYS_MKNOD: 1, unix.SYS_MKNODAT: 2, unix.SYS_CREAT: 1}
	inotifyCalls = []uint32{unix.SYS_INOTIFY_INIT, unix.SYS_INOTIFY_INIT1}
)

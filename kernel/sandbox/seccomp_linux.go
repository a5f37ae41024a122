//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A filter allows every known system call except those of its rules, which fail with an error
// number, so that Python raises OSError. It compares the low 32 bits of arguments, as Linux does
// for ints: a filter that compares all 64 bits can be bypassed by setting a high bit
// (CVE-2019-10063).

// A condition tests one argument.
type condition struct {
	arg   int
	mask  uint32
	value uint32
	not   bool // the argument must not be the value
}

// A rule applies to a system call if all conditions hold.
type rule struct {
	call  uint32
	errno unix.Errno // 0: do nothing and succeed; askGuard: the guard decides
	when  []condition
}

const (
	whole    = 0xffffffff
	askGuard = unix.Errno(1 << 15) // larger than any error number
)

func is(arg int, value uint32) condition    { return condition{arg, whole, value, false} }
func isNot(arg int, value uint32) condition { return condition{arg, whole, value, true} }

// newestCall is the newest system call that these rules cover. Newer ones fail with ENOSYS, as on
// an older Linux: libraries then fall back to older calls.
const newestCall = unix.SYS_FILE_SETATTR // Linux 6.17

// assemble returns the program for seccomp(2).
func assemble(rules []rule) []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		and    = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		result = unix.BPF_RET | unix.BPF_K
	)
	// The offsets in struct seccomp_data.
	const number, architecture, arguments = 0, 4, 16
	program := []unix.SockFilter{
		{Code: load, K: architecture},
		{Code: equal, K: auditArch, Jt: 1},
		// another system call table, such as that of 32-bit programs
		{Code: result, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: number},
	}
	if x32 {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K,
			K: 0x40000000, Jf: 1},
			unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K,
		K: newestCall, Jf: 1},
		unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
	for _, r := range rules {
		var body []unix.SockFilter
		var tests []int // instructions in body that jump when a condition fails
		for _, c := range r.when {
			body = append(body, unix.SockFilter{Code: load, K: uint32(arguments + 8*c.arg)},
				unix.SockFilter{Code: and, K: c.mask},
				unix.SockFilter{Code: equal, K: c.value})
			tests = append(tests, len(body)-1)
		}
		action := unix.SECCOMP_RET_ERRNO | uint32(r.errno)
		if r.errno == askGuard {
			action = unix.SECCOMP_RET_USER_NOTIF
		}
		body = append(body, unix.SockFilter{Code: result, K: action})
		for i, at := range tests {
			if skip := uint8(len(body) - at - 1); r.when[i].not {
				body[at].Jt = skip
			} else {
				body[at].Jf = skip
			}
		}
		if len(tests) > 0 {
			body = append(body, unix.SockFilter{Code: load, K: number})
		}
		program = append(append(program, unix.SockFilter{Code: equal, K: r.call, Jf: uint8(len(body))}),
			body...)
	}
	return append(program, unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ALLOW})
}

// confineCalls applies the filter of the stage to the calling thread and everything that it starts.
func (st stage) confineCalls() error {
	program := assemble(st.rules())
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if st.asks() {
		err := confineAsked(&filter)
		if st.asksAboutSignals() || st.reaches() || !errors.Is(err, unix.EBUSY) {
			return err
		}
		st.Facts = false // a sandbox around this program already has a listener: no checkpoints
		return st.confineCalls()
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

func (st stage) rules() []rule {
	var rules []rule
	if st.reaches() {
		rules = st.askedConnects()
	}
	rules = append(rules, surface()...)
	if !st.Listens || st.Box.Seal() == "" { // otherwise the seal is a filter, which refuses others
		rules = append(rules, deny(unix.ENOSYS, unix.SYS_SECCOMP)...)
	}
	if st.reaches() {
		rules = append(rules, otherOptions()...)
	}
	full := st.Box.Tier == Full
	switch {
	case st.Box.Net:
		rules = append(rules, refuse(unix.SYS_SOCKET, 0, unusualFamilies...)...)
	case full: // a private network namespace, with only a loopback interface
		rules = append(append(rules, netlink),
			refuse(unix.SYS_SOCKET, 0, append(unusualFamilies, unix.AF_KEY)...)...)
	default:
		rules = append(append(rules, netlink), st.unixOnly()...)
	}
	if !st.Box.unixSockets(st.landlock()) {
		rules = append(append(rules, refuse(unix.SYS_SOCKET, 0, unix.AF_UNIX)...), connectedPairs)
	}
	if !full {
		rules = append(rules, withoutMounts(st.Box.Net)...)
		if !st.Listens && !st.Box.Net {
			rules = append(rules, rule{call: unix.SYS_BIND, errno: unix.EPERM})
		}
	}
	if st.asksAboutSignals() {
		rules = append(rules, askedSignals()...)
	}
	if st.Facts {
		rules = append(rules, askedOpens()...)
	}
	return rules
}

// netlink refuses netlink sockets with an error that libzmq tolerates: it lists the network's
// interfaces when it binds to TCP, and aborts on any error but EINVAL and EOPNOTSUPP
// (ip_resolver.cpp).
var netlink = rule{unix.SYS_SOCKET, unix.EOPNOTSUPP, []condition{is(0, unix.AF_NETLINK)}}

// connectedPairs refuses socket pairs for datagrams, as either end could send to a named socket.
var connectedPairs = rule{unix.SYS_SOCKETPAIR, unix.EPERM, sendsAnywhere()}

// sendsAnywhere returns conditions that hold for socket types that can send without connect: for
// Unix sockets all but two, as SOCK_RAW is a synonym of SOCK_DGRAM there.
func sendsAnywhere() []condition {
	const kind = 0xf // without SOCK_CLOEXEC and SOCK_NONBLOCK
	return []condition{{1, kind, unix.SOCK_STREAM, true}, {1, kind, unix.SOCK_SEQPACKET, true}}
}

var unusualFamilies = []uint32{unix.AF_VSOCK, unix.AF_PACKET, unix.AF_ALG, unix.AF_BLUETOOTH,
	unix.AF_CAN, unix.AF_TIPC, unix.AF_XDP, unix.AF_RDS}

// refuse refuses a call with any of the values as an argument.
func refuse(call uint32, arg int, values ...uint32) (rules []rule) {
	for _, value := range values {
		rules = append(rules, rule{call, unix.EPERM, []condition{is(arg, value)}})
	}
	return rules
}

func deny(errno unix.Errno, calls ...uint32) (rules []rule) {
	for _, call := range calls {
		rules = append(rules, rule{call: call, errno: errno})
	}
	return rules
}

// surface refuses, in every tier, system calls that no data analysis needs.
func surface() []rule {
	rules := deny(unix.EPERM,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
		unix.SYS_PIDFD_GETFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_BPF, unix.SYS_USERFAULTFD,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
		unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
		unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		unix.SYS_OPEN_TREE_ATTR, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
		unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
		unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY,
		unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME,
		unix.SYS_SETDOMAINNAME, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_VHANGUP, unix.SYS_FANOTIFY_INIT, unix.SYS_MIGRATE_PAGES)
	// System V IPC and POSIX queues outlive their process, and no limit counts their memory. In
	// builtin they are shared with the whole machine.
	rules = append(rules, deny(unix.EPERM, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL,
		unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MSGGET,
		unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
		unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_NOTIFY,
		unix.SYS_MQ_GETSETATTR)...)
	// The guard cannot inspect a process that is not dumpable.
	rules = append(rules, refuse(unix.SYS_PRCTL, 0, unix.PR_SET_DUMPABLE)...)
	rules = append(rules, setID()...)
	// A user has few inotify instances: other programs would get none.
	rules = append(rules, deny(unix.EPERM, inotifyCalls...)...)
	// Filters, rulesets, files in memory and secret memory take memory that no limit counts; asynchronous
	// input and output has contexts of which the machine has few. Libraries do without, as on an older
	// Linux.
	rules = append(rules, rule{unix.SYS_PRCTL, unix.EINVAL, []condition{is(0, unix.PR_SET_SECCOMP)}})
	rules = append(rules, deny(unix.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET,
		unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF, unix.SYS_MEMFD_CREATE,
		unix.SYS_MEMFD_SECRET, unix.SYS_IO_SETUP)...)
	// Leases and notifications delay or reveal what other programs do with the data; hints persist
	// with the file.
	rules = append(rules, refuse(unix.SYS_FCNTL, 1, unix.F_SETLEASE, unix.F_NOTIFY, unix.F_SETDELEG,
		unix.F_SET_RW_HINT)...)
	// Larger socket buffers, which take memory that no limit counts.
	for _, option := range []uint32{unix.SO_SNDBUF, unix.SO_RCVBUF, unix.SO_SNDBUFFORCE,
		unix.SO_RCVBUFFORCE} {
		rules = append(rules, rule{unix.SYS_SETSOCKOPT, 0,
			[]condition{is(1, unix.SOL_SOCKET), is(2, option)}})
	}
	// These reveal the mounts, as /proc/self/mountinfo does, which builtin hides.
	rules = append(rules, deny(unix.ENOSYS, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT)...)
	// io_uring opens and connects without system calls that a filter sees. The flags of clone3 are in
	// memory, where no filter sees them; the C library falls back to clone.
	rules = append(rules, deny(unix.ENOSYS, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
		unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3)...)
	const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID |
		unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	// These inject input into the terminal.
	rules = append(rules, refuse(unix.SYS_IOCTL, 1, unix.TIOCSTI, unix.TIOCLINUX)...)
	return append(rules,
		rule{unix.SYS_CLONE, unix.EPERM, []condition{{0, namespaces, 0, true}}},
		// The guard opens descriptors for a thread of those that ask: all must share them.
		rule{unix.SYS_CLONE, unix.EPERM,
			[]condition{{0, unix.CLONE_THREAD | unix.CLONE_FILES, unix.CLONE_THREAD, false}}},
		rule{unix.SYS_CLOSE_RANGE, unix.ENOSYS,
			[]condition{{2, unix.CLOSE_RANGE_UNSHARE, unix.CLOSE_RANGE_UNSHARE, false}}},
		// Limits and priorities of other processes. 0 is the caller, its group or its user.
		rule{unix.SYS_PRLIMIT64, unix.EPERM, []condition{isNot(0, 0)}},
		rule{unix.SYS_SETPRIORITY, unix.EPERM, []condition{isNot(0, unix.PRIO_PROCESS)}},
		rule{unix.SYS_SETPRIORITY, unix.EPERM, []condition{isNot(1, 0)}},
		rule{unix.SYS_IOPRIO_SET, unix.EPERM, []condition{isNot(0, ioprioProcess)}},
		rule{unix.SYS_IOPRIO_SET, unix.EPERM, []condition{isNot(1, 0)}})
}

const ioprioProcess = 1 // IOPRIO_WHO_PROCESS

// setID prevents setuid and setgid files. A chmod to such a mode does nothing: an error would break
// shutil.copytree of a setgid folder.
func setID() (rules []rule) {
	bits := func(arg int) condition { return condition{arg, unix.S_ISUID | unix.S_ISGID, 0, true} }
	for call, mode := range chmodCalls {
		rules = append(rules, rule{call, 0, []condition{bits(mode)}})
	}
	for call, mode := range makeCalls {
		rules = append(rules, rule{call, unix.EPERM, []condition{bits(mode)}})
	}
	for call, flags := range openCalls {
		// only with these flags is there a mode argument
		for _, creates := range []uint32{unix.O_CREAT, unix.O_TMPFILE &^ unix.O_DIRECTORY} {
			rules = append(rules, rule{call, unix.EPERM,
				[]condition{{flags, creates, 0, true}, bits(flags + 1)}})
		}
	}
	// The mode of openat2 is in memory, where no filter sees it.
	return append(rules, deny(unix.ENOSYS, unix.SYS_OPENAT2)...)
}

// withoutMounts returns rules for what Landlock does not cover in the builtin tier, whose processes
// use the machine's own file systems.
func withoutMounts(net bool) []rule {
	var rules []rule
	if !net { // with the network, TCP needs connect
		// Connections to sockets in the file system: D-Bus, Docker, the SSH agent. A Jupyter kernel
		// only listens.
		rules = append(rules, rule{call: unix.SYS_CONNECT, errno: unix.EPERM})
	}
	rules = append(rules, rule{unix.SYS_SOCKET, unix.EPERM,
		append(sendsAnywhere(), is(0, unix.AF_UNIX))}, connectedPairs)
	// These change modes, owners and times of any of the user's files. They do nothing: an error would
	// break shutil.copy, tarfile and zipfile.
	rules = append(rules, deny(0, metadataCalls...)...)
	// Scheduling of other processes. These do nothing either: libzmq sets that of its own thread, by
	// ID, and aborts on an error.
	for _, call := range []uint32{unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		rules = append(rules, rule{call, 0, []condition{isNot(0, 0)}})
	}
	rules = append(rules, fileRequests()...)
	// PIDFD_GET_INFO reveals other processes and, without the network, SIOCGIFCONF the machine's
	// interfaces and SIOCGIWESSID its wireless network.
	rules = append(rules, requests(pidfdRequests)...)
	if !net {
		rules = append(rules, requests(socketRequests)...)
		rules = append(rules, requests(wirelessRequests)...)
	}
	// Watching files that cannot be read.
	rules = append(rules, deny(unix.EPERM, unix.SYS_INOTIFY_ADD_WATCH)...)
	rules = append(rules, deny(unix.EPERM, attributeCalls...)...)
	// Attributes of unreadable files. The error is that of a file system without attributes, which
	// shutil.copy2 accepts.
	rules = append(rules, deny(unix.ENOTSUP, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_FGETXATTR,
		unix.SYS_GETXATTRAT, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR, unix.SYS_FLISTXATTR,
		unix.SYS_LISTXATTRAT, unix.SYS_FILE_GETATTR)...)
	// Before version 3, Landlock does not cover truncation.
	rules = append(rules, deny(unix.EPERM, unix.SYS_TRUNCATE)...)
	cut := func(arg int) []condition {
		return []condition{{arg, unix.O_TRUNC | unix.O_ACCMODE, unix.O_TRUNC, false}}
	}
	for call, arg := range openCalls {
		rules = append(rules, rule{call, unix.EPERM, cut(arg)})
	}
	return rules
}

// fileRequests refuses ioctl requests that change files and file systems, as many need only a read
// descriptor: flags as chattr sets them, sealing, snapshots of subvolumes. Programs expect the
// error, that of a file system without such requests. The allowed requests only read, or copy to a
// file that is open for writing.
func fileRequests() (rules []rule) {
	for _, f := range []struct {
		kind uint32 // the second byte of a request: the subsystem
		not  []uint32
	}{
		{'f', []uint32{unix.FS_IOC_GETFLAGS, getFlags32, fiemap}}, // common to all, and ext4, Lustre
		{'X', []uint32{fsGetXattr}},                               // common to all, and XFS
		{'v', nil},
		{'r', nil},  // FAT
		{0x83, nil}, // ZFS
		{0x94, []uint32{unix.FICLONE, unix.FICLONERANGE}}, // common to all, and Btrfs
		{0x97, nil}, // Ceph
		{0xbc, nil}, // bcachefs
		{0xcf, nil}, // CIFS
		{0xf5, nil}, // F2FS
	} {
		rules = append(rules, requests(f.kind, f.not...)...)
	}
	return rules
}

// requests refuses the ioctl requests of a kind, with exceptions.
func requests(kind uint32, allowed ...uint32) []rule {
	const request, mask = 1, 0xff00
	r := rule{unix.SYS_IOCTL, unix.ENOTTY, []condition{{request, mask, kind << 8, false}}}
	for _, a := range allowed {
		r.when = append(r.when, isNot(request, a))
	}
	return []rule{r}
}

// linux/pidfd.h, linux/sockios.h, linux/wireless.h
const pidfdRequests, socketRequests, wirelessRequests = 0xff, 0x89, 0x8b

// linux/fs.h, linux/fiemap.h
const getFlags32, fiemap, fsGetXattr = 0x80046601, 0xc020660b, 0x801c581f

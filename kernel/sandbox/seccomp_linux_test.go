//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the filters on calls, as Linux does, in an interpreter: so it can be tried for
// another architecture.
func TestFilter(t *testing.T) {
	const allow, kill = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_KILL_PROCESS
	refuse := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }
	builtin := filterOf(t, stage{Box: Box{Tier: Builtin}})
	net := filterOf(t, stage{Box: Box{Tier: Builtin, Net: true}})
	full := filterOf(t, stage{Box: Box{Tier: Full}})
	const inet, local = unix.AF_INET, unix.AF_UNIX
	for _, c := range []struct {
		name               string
		call               uint32
		args               []uint64
		builtin, net, full uint32
	}{
		{"read", unix.SYS_READ, nil, allow, allow, allow},
		{"socket of IP", unix.SYS_SOCKET, []uint64{inet, unix.SOCK_STREAM}, refuse(unix.EPERM), allow,
			allow},
		{"socket of Unix", unix.SYS_SOCKET, []uint64{local, unix.SOCK_STREAM}, allow, refuse(unix.EPERM),
			allow},
		{"socket of Unix, by the high bits", unix.SYS_SOCKET, []uint64{1<<32 | inet, unix.SOCK_STREAM},
			refuse(unix.EPERM), allow, allow},
		{"datagrams", unix.SYS_SOCKET, []uint64{local, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC},
			refuse(unix.EPERM), refuse(unix.EPERM), allow},
		{"datagrams by another name", unix.SYS_SOCKET,
			[]uint64{local, unix.SOCK_RAW | unix.SOCK_NONBLOCK}, refuse(unix.EPERM), refuse(unix.EPERM),
			allow},
		{"packets in order", unix.SYS_SOCKET, []uint64{local, unix.SOCK_SEQPACKET}, allow,
			refuse(unix.EPERM), allow},
		{"a pair", unix.SYS_SOCKETPAIR, []uint64{local, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow,
			allow, allow},
		{"a pair of datagrams", unix.SYS_SOCKETPAIR, []uint64{local, unix.SOCK_DGRAM}, refuse(unix.EPERM),
			refuse(unix.EPERM), allow},
		{"a pair by another name", unix.SYS_SOCKETPAIR, []uint64{local, unix.SOCK_RAW},
			refuse(unix.EPERM), refuse(unix.EPERM), allow},
		{"netlink", unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW}, refuse(unix.EOPNOTSUPP),
			allow, refuse(unix.EOPNOTSUPP)},
		{"vsock", unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, refuse(unix.EPERM),
			refuse(unix.EPERM), refuse(unix.EPERM)},
		{"connect", unix.SYS_CONNECT, nil, refuse(unix.EPERM), allow, allow},
		{"a thread", unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_FILES},
			allow, allow, allow},
		{"a thread with files of its own", unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD},
			refuse(unix.EPERM), refuse(unix.EPERM), refuse(unix.EPERM)},
		{"files of its own", unix.SYS_CLOSE_RANGE,
			[]uint64{3, 9, unix.CLOSE_RANGE_UNSHARE | unix.CLOSE_RANGE_CLOEXEC}, refuse(unix.ENOSYS),
			refuse(unix.ENOSYS), refuse(unix.ENOSYS)},
		{"close", unix.SYS_CLOSE_RANGE, []uint64{3, 9, 0}, allow, allow, allow},
		{"a namespace", unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)},
			refuse(unix.EPERM), refuse(unix.EPERM), refuse(unix.EPERM)},
		{"clone3", unix.SYS_CLONE3, nil, refuse(unix.ENOSYS), refuse(unix.ENOSYS), refuse(unix.ENOSYS)},
		{"ptrace", unix.SYS_PTRACE, nil, refuse(unix.EPERM), refuse(unix.EPERM), refuse(unix.EPERM)},
		{"TIOCSTI", unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, refuse(unix.EPERM), refuse(unix.EPERM),
			refuse(unix.EPERM)},
		{"TIOCGWINSZ", unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allow, allow, allow},
		{"FS_IOC_SETFLAGS", unix.SYS_IOCTL, []uint64{3, unix.FS_IOC_SETFLAGS}, refuse(unix.ENOTTY),
			refuse(unix.ENOTTY), allow},
		{"FS_IOC32_SETFLAGS", unix.SYS_IOCTL, []uint64{3, 0x40046602}, refuse(unix.ENOTTY),
			refuse(unix.ENOTTY), allow},
		{"FS_IOC_FSSETXATTR", unix.SYS_IOCTL, []uint64{3, 0x401c5820}, refuse(unix.ENOTTY),
			refuse(unix.ENOTTY), allow},
		{"FS_IOC_ENABLE_VERITY", unix.SYS_IOCTL, []uint64{3, unix.FS_IOC_ENABLE_VERITY},
			refuse(unix.ENOTTY), refuse(unix.ENOTTY), allow},
		{"FS_IOC_SETVERSION", unix.SYS_IOCTL, []uint64{3, 0x40087602}, refuse(unix.ENOTTY),
			refuse(unix.ENOTTY), allow},
		{"BTRFS_IOC_SUBVOL_CREATE", unix.SYS_IOCTL, []uint64{3, 0x5000940e}, refuse(unix.ENOTTY),
			refuse(unix.ENOTTY), allow},
		{"FS_IOC_GETFLAGS", unix.SYS_IOCTL, []uint64{3, unix.FS_IOC_GETFLAGS}, allow, allow, allow},
		{"FS_IOC_FSGETXATTR", unix.SYS_IOCTL, []uint64{3, 0x801c581f}, allow, allow, allow},
		{"FICLONE", unix.SYS_IOCTL, []uint64{3, unix.FICLONE}, allow, allow, allow},
		{"FICLONERANGE", unix.SYS_IOCTL, []uint64{3, unix.FICLONERANGE}, allow, allow, allow},
		{"getxattr", unix.SYS_GETXATTR, nil, refuse(unix.ENOTSUP), refuse(unix.ENOTSUP), allow},
		{"listxattrat", unix.SYS_LISTXATTRAT, nil, refuse(unix.ENOTSUP), refuse(unix.ENOTSUP), allow},
		{"fchmod", unix.SYS_FCHMOD, nil, refuse(0), refuse(0), allow},
		{"limits of its own", unix.SYS_PRLIMIT64, []uint64{0}, allow, allow, allow},
		{"limits of another", unix.SYS_PRLIMIT64, []uint64{7}, refuse(unix.EPERM), refuse(unix.EPERM),
			refuse(unix.EPERM)},
		{"cut on opening", unix.SYS_OPENAT, []uint64{0, 0, unix.O_TRUNC}, refuse(unix.EPERM),
			refuse(unix.EPERM), allow},
		{"setuid by fchmodat", unix.SYS_FCHMODAT, []uint64{0, 0, 0o4755}, refuse(0), refuse(0),
			refuse(0)},
		{"setgid by fchmod", unix.SYS_FCHMOD, []uint64{3, 0o2755}, refuse(0), refuse(0), refuse(0)},
		{"sticky", unix.SYS_FCHMOD, []uint64{3, 0o1777}, refuse(0), refuse(0), allow},
		{"setuid by mknodat", unix.SYS_MKNODAT, []uint64{0, 0, unix.S_IFREG | 0o4755}, refuse(unix.EPERM),
			refuse(unix.EPERM), refuse(unix.EPERM)},
		{"a pipe", unix.SYS_MKNODAT, []uint64{0, 0, unix.S_IFIFO | 0o644}, allow, allow, allow},
		{"setuid by openat", unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_CREAT, 0o6755},
			refuse(unix.EPERM), refuse(unix.EPERM), refuse(unix.EPERM)},
		{"setuid by O_TMPFILE", unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_TMPFILE, 0o4755},
			refuse(unix.EPERM), refuse(unix.EPERM), refuse(unix.EPERM)},
		{"a folder, with any mode", unix.SYS_OPENAT, []uint64{0, 0, unix.O_DIRECTORY, 0o6755}, allow,
			allow, allow},
		{"openat2", unix.SYS_OPENAT2, nil, refuse(unix.ENOSYS), refuse(unix.ENOSYS), refuse(unix.ENOSYS)},
		{"mq_unlink", unix.SYS_MQ_UNLINK, nil, refuse(unix.EPERM), refuse(unix.EPERM),
			refuse(unix.EPERM)},
		{"semget", unix.SYS_SEMGET, nil, refuse(unix.EPERM), refuse(unix.EPERM), refuse(unix.EPERM)},
		{"inotify_init1", unix.SYS_INOTIFY_INIT1, nil, refuse(unix.EPERM), refuse(unix.EPERM),
			refuse(unix.EPERM)},
		{"a lease", unix.SYS_FCNTL, []uint64{3, unix.F_SETLEASE, unix.F_RDLCK}, refuse(unix.EPERM),
			refuse(unix.EPERM), refuse(unix.EPERM)},
		{"a lock", unix.SYS_FCNTL, []uint64{3, unix.F_SETLK}, allow, allow, allow},
		{"SO_SNDBUF", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_SNDBUF}, refuse(0),
			refuse(0), refuse(0)},
		{"SO_REUSEADDR", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_REUSEADDR}, allow,
			allow, allow},
		{"SIOCGIFCONF", unix.SYS_IOCTL, []uint64{3, unix.SIOCGIFCONF}, refuse(unix.ENOTTY), allow, allow},
		{"PIDFD_GET_INFO", unix.SYS_IOCTL, []uint64{3, 0xc040ff0b}, refuse(unix.ENOTTY),
			refuse(unix.ENOTTY), allow},
		{"listmount", unix.SYS_LISTMOUNT, nil, refuse(unix.ENOSYS), refuse(unix.ENOSYS),
			refuse(unix.ENOSYS)},
		{"a newer call", newestCall + 1, nil, refuse(unix.ENOSYS), refuse(unix.ENOSYS),
			refuse(unix.ENOSYS)},
		{"write anew", unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC},
			allow, allow, allow},
	} {
		for tier, w := range map[*bpf.VM]uint32{builtin: c.builtin, net: c.net, full: c.full} {
			if got := decide(t, tier, auditArch, c.call, c.args...); got != w {
				t.Errorf("%s: %#x, want %#x", c.name, got, w)
			}
		}
	}
	for _, other := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM,
		unix.AUDIT_ARCH_X86_64 ^ unix.AUDIT_ARCH_AARCH64 ^ auditArch} {
		if got := decide(t, full, other, unix.SYS_READ); got != kill {
			t.Errorf("a call of the architecture %#x: %#x", other, got)
		}
	}
	// sockets without a path are in sight
	older := filterOf(t, stage{Box: Box{Tier: Full, Net: true}, ABI: scopes - 1})
	for kind, want := range map[uint64]uint32{unix.SOCK_STREAM: allow,
		unix.SOCK_DGRAM: refuse(unix.EPERM), unix.SOCK_RAW: refuse(unix.EPERM)} {
		if got := decide(t, older, auditArch, unix.SYS_SOCKETPAIR, local, kind); got != want {
			t.Errorf("a pair of type %d in full with the network and an older Landlock: %#x, want %#x", kind,
				got, want)
		}
	}
	if got := decide(t, full, auditArch,
		0x40000000|unix.SYS_READ); x32 != (got == refuse(unix.EPERM)) {
		t.Errorf("a call of the x32 table: %#x", got)
	}
}

func filterOf(t *testing.T, st stage) *bpf.VM {
	t.Helper()
	var program []bpf.Instruction
	for _, f := range assemble(st.rules()) {
		program = append(program, bpf.RawInstruction{Op: f.Code, Jt: f.Jt, Jf: f.Jf,
			K: f.K}.Disassemble())
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// decide returns what a filter says of a call: its arguments are struct seccomp_data, in the order
// of bytes of bpf.VM.
func decide(t *testing.T, vm *bpf.VM, arch, call uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], call)
	binary.BigEndian.PutUint32(data[4:], arch)
	for i, arg := range args { // the low half first, as both architectures have it
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(arg))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(arg>>32))
	}
	verdict, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(verdict)
}

//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the filters in an interpreter of BPF: what attacks.py cannot try, such as the calls of
// another architecture, and what is allowed, also with the network.
func TestFilter(t *testing.T) {
	const allow, kill = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_KILL_PROCESS
	refuse := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }
	eperm, enosys, enotty := refuse(unix.EPERM), refuse(unix.ENOSYS), refuse(unix.ENOTTY)
	eopnotsupp, succeeds := refuse(unix.EOPNOTSUPP), refuse(0)
	builtin := filterOf(t, stage{Box: Box{Tier: Builtin}})
	net := filterOf(t, stage{Box: Box{Tier: Builtin, Net: true}})
	full := filterOf(t, stage{Box: Box{Tier: Full}})
	const (
		inet, local        = unix.AF_INET, unix.AF_UNIX
		socket, pair       = unix.SYS_SOCKET, unix.SYS_SOCKETPAIR
		ioctl, open, clone = unix.SYS_IOCTL, unix.SYS_OPENAT, unix.SYS_CLONE
		thread             = unix.CLONE_VM | unix.CLONE_THREAD
		create             = unix.O_WRONLY | unix.O_CREAT
	)
	for _, c := range []struct {
		builtin, net, full uint32
		calls              [][]uint64 // numbers and arguments
	}{
		{allow, allow, allow, [][]uint64{
			{unix.SYS_READ},
			{pair, local, unix.SOCK_STREAM | unix.SOCK_CLOEXEC},
			{clone, thread | unix.CLONE_FILES},
			{unix.SYS_CLOSE_RANGE, 3, 9, 0},
			{ioctl, 0, unix.TIOCGWINSZ}, {ioctl, 3, unix.FS_IOC_GETFLAGS},
			{ioctl, 3, 0x801c581f}, // FS_IOC_FSGETXATTR
			{ioctl, 3, unix.FICLONE}, {ioctl, 3, unix.FICLONERANGE},
			{unix.SYS_PRLIMIT64, 0}, // of its own
			{unix.SYS_MKNODAT, 0, 0, unix.S_IFIFO | 0o644},
			{open, 0, 0, unix.O_DIRECTORY, 0o6755}, {open, 0, 0, create | unix.O_TRUNC},
			{unix.SYS_FCNTL, 3, unix.F_SETLK},
			{unix.SYS_SETSOCKOPT, 3, unix.SOL_SOCKET, unix.SO_REUSEADDR},
		}},
		{eperm, eperm, eperm, [][]uint64{
			{socket, unix.AF_VSOCK, unix.SOCK_STREAM}, {clone, thread}, // with files of its own
			{open, 0, 0, create, 0o6755}, {open, 0, 0, unix.O_WRONLY | unix.O_TMPFILE, 0o4755},
		}},
		{enosys, enosys, enosys, [][]uint64{
			{unix.SYS_CLOSE_RANGE, 3, 9, unix.CLOSE_RANGE_UNSHARE | unix.CLOSE_RANGE_CLOEXEC},
			{unix.SYS_CLONE3}, {unix.SYS_OPENAT2}, {newestCall + 1}, {unix.SYS_MEMFD_CREATE},
		}},
		{succeeds, succeeds, allow, [][]uint64{{unix.SYS_FCHMOD}, {unix.SYS_FCHMOD, 3, 0o1777}}},
		{eperm, eperm, allow, [][]uint64{
			{socket, local, unix.SOCK_RAW | unix.SOCK_NONBLOCK}, // datagrams by another name
			{pair, local, unix.SOCK_DGRAM}, {open, 0, 0, unix.O_TRUNC},
		}},
		{enotty, enotty, allow, [][]uint64{
			{ioctl, 3, 0x40046602}, // FS_IOC32_SETFLAGS
			{ioctl, 3, 0x5000940e}, // BTRFS_IOC_SUBVOL_CREATE
		}},
		{eperm, allow, allow, [][]uint64{
			{socket, inet, unix.SOCK_STREAM},
			{socket, 1<<32 | inet, unix.SOCK_STREAM}, // of Unix, by the high bits
			{unix.SYS_CONNECT},
		}},
		{allow, eperm, allow, [][]uint64{
			{socket, local, unix.SOCK_STREAM}, {socket, local, unix.SOCK_SEQPACKET},
		}},
		{eopnotsupp, allow, eopnotsupp, [][]uint64{{socket, unix.AF_NETLINK, unix.SOCK_RAW}}},
		{enotty, allow, allow, [][]uint64{{ioctl, 3, unix.SIOCGIFCONF}}},
	} {
		for tier, w := range map[*bpf.VM]uint32{builtin: c.builtin, net: c.net, full: c.full} {
			for _, call := range c.calls {
				if got := decide(t, tier, auditArch, uint32(call[0]), call[1:]...); got != w {
					t.Errorf("%#x: %#x, want %#x", call, got, w)
				}
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
	for kind, want := range map[uint64]uint32{unix.SOCK_STREAM: allow, unix.SOCK_DGRAM: eperm,
		unix.SOCK_RAW: eperm} {
		if got := decide(t, older, auditArch, pair, local, kind); got != want {
			t.Errorf("a pair of type %d with an older Landlock: %#x, want %#x", kind, got, want)
		}
	}
	if got := decide(t, full, auditArch, 0x40000000|unix.SYS_READ); x32 != (got == eperm) {
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

// decide returns a filter's decision about a call. The arguments are struct seccomp_data, in the
// byte order of bpf.VM.
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

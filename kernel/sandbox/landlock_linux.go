//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock's access rights for files (Linux, Documentation/userspace-api/landlock.rst).
const (
	fsRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR
	fsWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	fsFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// Landlock returns the version of Landlock's interface in this Linux, 0 for none.
func Landlock() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0,
		unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

func builtinWorks() error {
	if Landlock() == 0 {
		return &MissingError{Builtin, ErrNoLandlock}
	}
	action := uint32(unix.SECCOMP_RET_ALLOW) // of every version of filters
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0,
		uintptr(unsafe.Pointer(&action))); errno != 0 {
		return &MissingError{Builtin, fmt.Errorf("this Linux has no seccomp filters: %w", errno)}
	}
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		return &MissingError{Builtin, fmt.Errorf("this Linux does not list children of processes "+
			"(CONFIG_PROC_CHILDREN): %w", err)}
	}
	return nil
}

// landlock is the version of Landlock's interface that the stage uses.
func (st stage) landlock() int {
	if st.ABI > 0 {
		return min(st.ABI, Landlock())
	}
	return Landlock()
}

// A ruleset denies the accesses in attr, except what its rules allow.
type ruleset struct {
	fd   int
	attr unix.LandlockRulesetAttr
}

// newRuleset denies every access that version abi knows. Since version 2 files may be moved between
// writable folders; version 1 always forbids that.
func newRuleset(abi int, net, sharedNet bool) (*ruleset, error) {
	r := &ruleset{attr: unix.LandlockRulesetAttr{Handled_access_fs: fsRead | fsWrite}}
	if abi >= 2 {
		r.attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		r.attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 && !net && sharedNet {
		r.attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP |
			unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		r.attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		r.attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&r.attr)),
		unsafe.Sizeof(r.attr), 0)
	if errno != 0 {
		return nil, fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	r.fd = int(fd)
	return r, nil
}

// allow permits access beneath each path. Missing and inaccessible paths are skipped. A path may lead
// through links, unless inodes are given: then it is a real path that cells of another session may
// replace, and must still have its inode if it is among them.
func (r *ruleset) allow(access uint64, inodes map[string]inode, paths ...string) error {
	for _, path := range paths {
		var fd int
		var err error
		if inodes != nil {
			fd, err = openSame(path, inodes)
		} else {
			fd, err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		}
		if unreachable(err) {
			continue
		}
		if err == nil {
			err = r.allowAt(fd, access)
			_ = unix.Close(fd) // nothing was written
		}
		if err != nil {
			return &os.PathError{Op: "allow", Path: path, Err: err}
		}
	}
	return nil
}

// allowReading permits reading beneath each path, except beneath own, real paths of folders.
// Landlock rules cannot exclude a subfolder: if one of own is beneath a path, every other entry is
// allowed separately, so entries created later are not readable. All names can be listed, even
// those in own.
func (r *ruleset) allowReading(own []string, inodes map[string]inode, paths ...string) error {
	for _, path := range paths {
		if !slices.ContainsFunc(own, func(folder string) bool { return in(folder, path) }) {
			if err := r.allow(fsRead, inodes, path); err != nil {
				return err
			}
			continue
		}
		if slices.Contains(own, path) {
			continue
		}
		if err := r.allow(unix.LANDLOCK_ACCESS_FS_READ_DIR, inodes, path); err != nil {
			return err
		}
		entries, err := os.ReadDir(path)
		if err != nil && !unreachable(err) {
			return err
		}
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink != 0 {
				continue // the rules of its target apply
			}
			if err := r.allowReading(own, inodes, path+"/"+e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *ruleset) allowAt(fd int, access uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fsFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & r.attr.Handled_access_fs,
		Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// systemReads are files that a Python with the scientific stack reads and that contain no secrets:
// never all of /etc, where root could read /etc/shadow.
var systemReads = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc/ld.so.cache",
	"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/timezone",
	"/etc/fonts", "/etc/mime.types", "/etc/matplotlibrc", "/etc/protocols", "/etc/services",
	"/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/host.conf", "/etc/hosts",
	"/etc/resolv.conf", "/etc/gai.conf",
	// Not all of /etc/ssl and /etc/pki, which contain private keys.
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf",
	"/etc/ca-certificates", "/var/lib/ca-certificates", "/etc/pki/tls/certs",
	"/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust",
	"/etc/crypto-policies",
	// The stores of Nix and Guix, and the links to their programs.
	"/nix/store", "/gnu/store", "/run/current-system", "/run/opengl-driver", "/etc/R",
	"/etc/python3", "/etc/inputrc", "/etc/magic", "/etc/debian_version", "/etc/os-release",
	"/etc/OpenCL", "/var/cache/fontconfig", "/sys/devices/system/cpu", "/sys/devices/system/node",
	"/sys/kernel/mm/transparent_hugepage",
}

// procReads are files of /proc about the machine rather than a process.
var procReads = []string{
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems",
	"/proc/loadavg", "/proc/uptime", "/proc/sys/kernel/osrelease", "/proc/sys/vm/overcommit_memory",
	"/proc/sys/kernel/random", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/cap_last_cap",
	"/proc/sys/kernel/ngroups_max", "/proc/sys/kernel/threads-max",
}

// ownProc are the files of /proc/self that a program can read. The others reveal the machine and
// other programs: net, mountinfo, mounts, attr, sessionid.
var ownProc = []string{
	"auxv", "cgroup", "cmdline", "comm", "coredump_filter", "environ", "fd", "fdinfo", "io",
	"limits", "maps", "mem", "numa_maps", "oom_score", "oom_score_adj", "pagemap", "personality",
	"sched", "schedstat", "smaps", "smaps_rollup", "stat", "statm", "status", "syscall", "timers",
	"timerslack_ns", "wchan",
}

// Not /dev/pts, which has other programs' terminals.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
	"/dev/tty"}

const cgroupFolder = "/sys/fs/cgroup"

// groupLimits are the files of a control group that libraries and undokernel read. Those of version 1
// are not among them.
var groupLimits = []string{"memory.max", "memory.current", "memory.stat", "cpu.max",
	"cpuset.cpus.effective"}

// groupFiles returns the files with the limits of this process's control group and its ancestors,
// none without one of version 2.
func groupFiles() (all []string) {
	b, _ := os.ReadFile("/proc/self/cgroup") // empty without control groups
	for line := range strings.Lines(string(b)) {
		group, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::/")
		for at := filepath.Join(cgroupFolder, group); ok && in(at, cgroupFolder); at = filepath.Dir(at) {
			all = append(all, below(at, groupLimits)...)
		}
	}
	return all
}

// gpuDevices returns the devices of graphics processors by NVIDIA (also in Jetsons and WSL), AMD
// and Intel. /dev/dri/card* are not among them, as they control screens.
func gpuDevices() []string {
	return matching("/dev/nvidia*", "/dev/nvhost-*", "/dev/nvmap", "/dev/dxg", "/dev/kfd",
		"/dev/dri/renderD*")
}

// gpuReads returns the system's files that only drivers of graphics processors need.
func gpuReads() []string {
	return matching("/sys/class/drm", "/sys/class/kfd", "/sys/devices/virtual/kfd",
		"/sys/bus/pci/devices", "/sys/devices/pci*", "/sys/dev/char",
		"/sys/module/nvidia*", "/sys/module/amdgpu", "/etc/vulkan", "/etc/nvidia", "/etc/glvnd",
		"/proc/driver/nvidia", "/proc/devices", "/proc/modules")
}

func matching(patterns ...string) (all []string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		all = append(all, found...)
	}
	return all
}

// confineFiles restricts the thread, and everything that it starts, to the files of the stage.
func (st stage) confineFiles() error {
	full := st.Box.Tier == Full
	abi := st.landlock()
	if abi == 0 {
		return ErrNoLandlock
	}
	r, err := newRuleset(abi, st.Box.Net, !full)
	if err != nil {
		return err
	}
	own := st.Own
	if full {
		own = nil // the view hides them
	}
	const written = fsRead | fsWrite | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	err = errors.Join(r.allowReading(own, st.Inodes, append(existing(systemReads), st.Read...)...),
		r.allow(written, st.Inodes, st.Write...), r.allow(fsRead, nil, groupFiles()...))
	const device = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	if st.Box.GPU {
		err = errors.Join(err, r.allow(device, nil, gpuDevices()...), r.allow(fsRead, nil, gpuReads()...),
			r.allow(unix.LANDLOCK_ACCESS_FS_READ_DIR, nil, "/dev/dri"))
	}
	switch {
	case full:
		err = errors.Join(err, r.allow(fsRead, nil, "/proc"), r.allow(device, nil, "/dev"),
			r.allow(written, nil, "/tmp", "/dev/shm"))
	case st.Box.Multiprocessing:
		err = errors.Join(err, r.allow(fsRead, nil, "/proc"), r.allow(device, nil, devices...),
			r.allow(written, nil, "/dev/shm"))
	default:
		// Landlock resolves /proc/self now, to this process, which then becomes the program.
		err = errors.Join(err, r.allow(fsRead, nil, procReads...), r.allow(fsRead, nil, below("/proc/self", ownProc)...),
			r.allow(device, nil, devices...),
			r.allow(unix.LANDLOCK_ACCESS_FS_READ_DIR, nil, "/proc"))
	}
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return unix.Close(r.fd)
}

//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// In the builtin tier Landlock allows a process to open only the /proc entries of the process that
// entered the sandbox. A kernel with checkpoints has several processes: it inspects its workers and
// their copies, and cells run in workers, whose libraries read /proc/self. So the seccomp filter
// sends the guard a notification about each file opened for reading. The guard, outside the sandbox
// and the ancestor of all its processes, opens the listed files of /proc for them and installs the
// descriptor in the waiting process. Any other call continues, as Landlock allows. With endpoints
// the filter asks in both tiers, as the guard answers for /etc/hosts.
//
// Cells can send any request, but get only read descriptors of files about their own sandbox, which
// they can read in the full tier anyway, and of the endpoints' hosts file. A request never waits
// for another process, and each thread has at most one request pending.

// factsFile matches the paths that the guard opens: a file of a process or of one of its threads.
// Files about the machine, such as net, mounts and mountinfo, are not among them.
var factsFile = regexp.MustCompile(`^/proc/(self|[1-9][0-9]{0,8})/((?:task/[1-9][0-9]{0,8}/)?` +
	`(?:stat|statm|status|comm|cmdline|environ|auxv|maps|smaps|smaps_rollup|numa_maps|limits|io|cgroup|cpuset|schedstat|syscall|wchan|children|oom_score|oom_score_adj|fdinfo/[0-9]{1,9}))$`)

// factsSize exceeds the length of all these paths.
const factsSize = 64

// askedOpens are the rules for calls that may open such a file.
func askedOpens() (rules []rule) {
	// calls with these flags do more than read a file
	const others = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC | unix.O_DIRECTORY
	for call, flags := range openCalls {
		rules = append(rules, rule{call, askGuard, []condition{{flags, others, unix.O_RDONLY, false}}})
	}
	return rules
}

// answerOpen answers a notification about an open call, with a descriptor if the path matches
// factsFile.
func (st stage) answerOpen(listener int, q *question) reply {
	flags := openCalls[uint32(q.nr)]
	path := stringAt(int(q.pid), uintptr(q.arguments[flags-1]))
	if st.reaches() && string(path) == hostsFile {
		return st.answerHosts(listener, q)
	}
	parts := factsFile.FindSubmatch(path)
	if parts == nil || !st.Facts {
		return q.goOn()
	}
	file, err := openFact(os.Getpid(), int(q.pid), string(parts[1]), string(parts[2]))
	if err != nil {
		return q.goOn()
	}
	defer unix.Close(file)
	return install(listener, q, file)
}

// install answers a notification about an open call with a duplicate of file.
func install(listener int, q *question, file int) reply {
	// Not SECCOMP_ADDFD_FLAG_SEND: if a signal interrupts that ioctl, the caller's open returns 0.
	a := addition{id: q.id, source: uint32(file),
		newFlags: uint32(q.arguments[openCalls[uint32(q.nr)]]) & unix.O_CLOEXEC}
	fd, errno := notify(listener, unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&a))
	if errno != 0 { // the process has too many descriptors, or has ended
		return q.goOn()
	}
	return reply{id: q.id, value: int64(fd)}
}

// notify is an ioctl on a notification listener. It is repeated after a signal, as Go's runtime
// sends signals to its own threads.
func notify(listener int, request uintptr, argument unsafe.Pointer) (value uintptr,
	errno unix.Errno) {
	for {
		value, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), request, uintptr(argument))
		if errno != unix.EINTR {
			return value, errno
		}
	}
}

// An addition is struct seccomp_notif_addfd.
type addition struct {
	id                      uint64
	flags, source           uint32
	newDescriptor, newFlags uint32
}

// stringAt returns the C string at an address of a process; nil if it is longer than factsSize or
// cannot be read.
func stringAt(pid int, address uintptr) []byte {
	text, _, ok := bytes.Cut(memoryAt(pid, address, factsSize), []byte{0})
	if !ok {
		return nil
	}
	return text
}

// memoryAt returns size bytes at an address of a process, or those up to the next page, which may be
// unmapped; nil if it cannot be read.
func memoryAt(pid int, address uintptr, size int) []byte {
	content := make([]byte, size)
	first := min(size, os.Getpagesize()-int(address)&(os.Getpagesize()-1))
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &content[0], Len: uint64(size)}},
		[]unix.RemoteIovec{{Base: address, Len: first},
			{Base: address + uintptr(first), Len: size - first}}, 0)
	if err != nil {
		return nil
	}
	return content[:n]
}

// openFact opens file of the process name in /proc for reading. The name "self" is the process of
// the thread asking. The process must descend from ancestor.
func openFact(ancestor, asking int, name, file string) (int, error) {
	if name == "self" {
		name = strconv.Itoa(processOf(asking)) // there is no process 0
	}
	process, err := openProcess(name)
	if err != nil {
		return -1, err
	}
	defer unix.Close(process)
	if !descends(process, ancestor) {
		return -1, unix.ENOENT
	}
	return unix.Openat(process, file, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
}

// openProcess opens the /proc folder of a process; the descriptor stays bound to it if its ID is
// reused.
func openProcess(pid string) (int, error) {
	return unix.Open("/proc/"+pid, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// descends reports whether a process, given by its folder, descends from ancestor, given by its ID.
// A parent's ID is valid if the child still has it after the parent's folder was opened: children
// are re-parented before the ID of their parent is free.
func descends(process, ancestor int) bool {
	at, err := unix.FcntlInt(uintptr(process), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { unix.Close(at) }()
	for range 4096 { // more than any chain of processes has
		number := parentOf(at)
		if number == ancestor {
			return true
		}
		if number <= 1 {
			return false
		}
		parent, err := openProcess(strconv.Itoa(number))
		if err != nil {
			continue // re-parented meanwhile
		}
		if parentOf(at) != number {
			unix.Close(parent)
			continue
		}
		unix.Close(at)
		at = parent
	}
	return false
}

// parentOf returns the ID of the parent of a process, 0 if the process is gone.
func parentOf(process int) int {
	return int(numbersIn("/proc/self/fd/" + strconv.Itoa(process) + "/status")("PPid"))
}

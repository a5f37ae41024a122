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

// In the builtin tier Landlock lets a process open nothing of /proc that is about
// a process, but what is about the one that entered the sandbox. A kernel with
// checkpoints is several processes: it has to look at its workers and their copies,
// and cells run in workers, whose libraries read /proc/self. So the filter asks the
// guard about each file that is opened to read. The guard, which is outside and the
// ancestor of all, opens listed files of /proc about processes of the sandbox and
// puts the descriptor into the process that waits. About anything else the call
// goes on, as Landlock allows.
//
// Cells can ask anything. They get descriptors to read of files about their own
// sandbox, which they also have in full. What they ask never waits for another
// process, and each of their threads waits for one answer at most.

// factsFile matches what the guard opens: a process, maybe one of its threads, and a
// file. Not among these: what tells about the machine, as net, mounts and mountinfo.
var factsFile = regexp.MustCompile(`^/proc/(self|[1-9][0-9]{0,8})/((?:task/[1-9][0-9]{0,8}/)?` +
	`(?:stat|statm|status|comm|cmdline|environ|auxv|maps|smaps|smaps_rollup|numa_maps|limits|io|cgroup|cpuset|schedstat|syscall|wchan|children|oom_score|oom_score_adj|fdinfo/[0-9]{1,9}))$`)

// factsSize is more than any of these paths has.
const factsSize = 64

// askedOpens are the calls that may open such a file.
func askedOpens() (rules []rule) {
	const others = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC | unix.O_DIRECTORY // not to read a file
	for call, flags := range openCalls {
		rules = append(rules, rule{call, askGuard, []condition{{flags, others, unix.O_RDONLY, false}}})
	}
	return rules
}

// answerOpen answers a question about a call that opens a file: by a descriptor, if the guard is to open it.
func answerOpen(listener int, q *question) reply {
	goOn := reply{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	flags := openCalls[uint32(q.nr)]
	parts := factsFile.FindSubmatch(stringAt(int(q.pid), uintptr(q.arguments[flags-1])))
	if parts == nil {
		return goOn
	}
	file, err := openFact(os.Getpid(), int(q.pid), string(parts[1]), string(parts[2]))
	if err != nil {
		return goOn
	}
	defer unix.Close(file)
	// Not SECCOMP_ADDFD_FLAG_SEND: where a signal interrupts that here, the call there returns 0.
	a := addition{id: q.id, source: uint32(file), newFlags: uint32(q.arguments[flags]) & unix.O_CLOEXEC}
	fd, errno := notify(listener, notifAddFD, unsafe.Pointer(&a))
	if errno != 0 { // it has too many, or has ended
		return goOn
	}
	return reply{id: q.id, value: int64(fd)}
}

// notify is an ioctl of a listener. A signal, of which Go has some for itself, must not be the end of it: whoever asked
// waits.
func notify(listener int, request uintptr, argument unsafe.Pointer) (value uintptr, errno unix.Errno) {
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

const (
	notifAddFD    = 0x40182103 // SECCOMP_IOCTL_NOTIF_ADDFD
	notifSetFlags = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS
	syncWakeUp    = 1          // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: who asks and who answers share a processor
)

// stringAt returns the string at an address of a process, without its end; nil if it is longer than factsSize, or cannot be
// read.
func stringAt(pid int, address uintptr) []byte {
	content := make([]byte, factsSize)
	first := min(factsSize, os.Getpagesize()-int(address)&(os.Getpagesize()-1)) // what follows may be on a page that is not there
	local := []unix.Iovec{{Base: &content[0], Len: factsSize}}
	remote := []unix.RemoteIovec{{Base: address, Len: first}, {Base: address + uintptr(first), Len: factsSize - first}}
	n, err := unix.ProcessVMReadv(pid, local, remote, 0)
	if err != nil {
		return nil
	}
	text, _, ok := bytes.Cut(content[:n], []byte{0})
	if !ok {
		return nil
	}
	return text
}

// openFact opens a file of /proc to read that is about a process, for thread asking, by whose number "self" is found. The
// process must descend from ancestor.
func openFact(ancestor, asking int, name, file string) (int, error) {
	if name == "self" {
		pid, _, ok := lineage(asking)
		if !ok {
			return -1, unix.ENOENT
		}
		name = strconv.Itoa(pid)
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

// openProcess opens the folder of a process, which stays that of this one when its number is given to another.
func openProcess(pid string) (int, error) {
	return unix.Open("/proc/"+pid, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// descends reports whether a process, given by its folder, descends from ancestor, given by its number. The number of a
// parent is good if the child still has it once the parent's folder is open: the children of one that ends have another
// parent before its number is free.
func descends(process, ancestor int) bool {
	at := process
	defer func() { closeOther(at, process) }()
	for range 4096 { // more than there can be in one line
		number := parentOf(at)
		if number == ancestor {
			return true
		}
		if number <= 1 {
			return false
		}
		parent, err := openProcess(strconv.Itoa(number))
		if err != nil {
			continue // it has another parent by now
		}
		if parentOf(at) != number {
			unix.Close(parent)
			continue
		}
		closeOther(at, process)
		at = parent
	}
	return false
}

func closeOther(fd, but int) {
	if fd != but {
		unix.Close(fd)
	}
}

// parentOf returns the number of the parent of a process, 0 if it is not there.
func parentOf(process int) int {
	fd, err := unix.Openat(process, "stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	content := make([]byte, 512)
	n, err := unix.Read(fd, content)
	if err != nil {
		return 0
	}
	fields := bytes.Fields(content[bytes.LastIndexByte(content[:n], ')')+1 : n]) // after the name, which may be anything
	if len(fields) < 2 {
		return 0
	}
	number, _ := strconv.Atoi(string(fields[1])) // Linux has written it
	return number
}

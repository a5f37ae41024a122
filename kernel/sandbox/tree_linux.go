//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dsstar/kernel/internal/guard"
)

// listsChildren reports whether Linux was built with CONFIG_PROC_CHILDREN.
var listsChildren = func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
}()

// children returns the child processes of pid, including zombies.
func children(pid int) (all []int) {
	base := "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks, err := os.ReadDir(base)
	if err != nil {
		return nil // it has ended
	}
	for _, task := range tasks {
		b, _ := os.ReadFile(base + task.Name() + "/children")
		for _, word := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// descendants returns the children of pid, their children, and so on.
func descendants(pid int) []int {
	if listsChildren {
		return below(pid, children)
	}
	byParent := map[int][]int{}
	for _, process := range processes() {
		if t, ok := threadOf(process); ok {
			byParent[t.parent] = append(byParent[t.parent], process)
		}
	}
	return below(pid, func(pid int) []int { return byParent[pid] })
}

// below is descendants with a given list of children.
func below(pid int, children func(int) []int) (all []int) {
	for _, child := range children(pid) {
		all = append(append(all, child), below(child, children)...)
	}
	return all
}

// processes returns the IDs of all processes.
func processes() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// A usage is what processes consume.
type usage struct {
	resident int64 // bytes without mapped files; shared memory counts once per process
	tables   int64 // bytes of page tables, which resident does not include
	threads  int   // including zombies
}

func usageOf(pids []int) (sum usage) {
	for _, pid := range pids {
		t, ok := running(pid)
		if !ok {
			sum.threads++
			continue
		}
		status := statusOf(t.id)
		sum.threads += t.threads
		sum.resident += max(0, t.resident-status("RssFile")<<10)
		sum.tables += status("VmPTE") << 10
	}
	return sum
}

// statusOf returns the numbers in the status of a thread by their names, 0 if there is none.
func statusOf(thread int) func(name string) int64 {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status") // it may have ended
	return func(name string) int64 {
		_, after, _ := bytes.Cut(b, []byte("\n"+name+":"))
		line, _, _ := bytes.Cut(after, []byte("\n"))
		n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(string(line), "kB")), 10, 64)
		return n
	}
}

// A thread is one thread of a process, with the usage of the process.
type thread struct {
	id     int // /proc/ID also describes its process
	parent int // the parent of its process
	ended  bool
	usage
}

// running returns a live thread of a process: the leader, or another if the leader has ended. Linux
// then reports nothing through the leader, whose files in /proc belong to root.
func running(pid int) (t thread, ok bool) {
	if t, ok = threadOf(pid); !ok || !t.ended {
		return t, ok
	}
	tasks, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task") // it may have gone
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if t, ok = threadOf(id); err == nil && ok && !t.ended {
			return t, true
		}
	}
	return thread{}, false
}

const ending = 4 // PF_EXITING: its memory is being freed, which can take long

func threadOf(id int) (t thread, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	at := bytes.LastIndexByte(b, ')') // the end of the name, which may contain anything
	if err != nil || at < 0 {
		return t, false
	}
	fields := strings.Fields(string(b[at+1:])) // from field 3 of proc(5)
	if len(fields) < 22 {
		return t, false
	}
	flags, _ := strconv.ParseInt(fields[6], 10, 64)
	pages, _ := strconv.ParseInt(fields[21], 10, 64)
	t = thread{id: id, ended: fields[0] == "Z" || fields[0] == "X" || flags&ending != 0}
	t.parent, _ = strconv.Atoi(fields[1])
	t.threads, _ = strconv.Atoi(fields[17])
	t.resident = pages * int64(os.Getpagesize())
	return t, true
}

// proportional returns the proportional set size (Pss) of processes without mapped files, whose pages
// the system drops when it needs memory: a cell may map a file that is larger than its limit, as
// Polars does. It is exact, but slow if there is much memory.
func proportional(pids []int) (sum int64) {
	for _, pid := range pids {
		t, ok := running(pid)
		if !ok {
			continue
		}
		b, err := os.ReadFile("/proc/" + strconv.Itoa(t.id) + "/smaps_rollup")
		field := func(name string) (bytes int64, ok bool) {
			_, after, ok := strings.Cut(string(b), "\n"+name+":")
			fields := strings.Fields(after)
			if !ok || len(fields) == 0 {
				return 0, false
			}
			kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
			return kilobytes << 10, true
		}
		all, ok := field("Pss")
		if err != nil || !ok {
			all = t.resident
		}
		ofFiles, _ := field("Pss_File") // since Linux 5.4
		sum += all - ofFiles
	}
	return sum
}

// threadsOf counts the threads of all processes of a user.
func threadsOf(uid int) (n uint64) {
	for _, pid := range processes() {
		if info, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil &&
			int(info.Sys().(*syscall.Stat_t).Uid) == uid {
			n += uint64(usageOf([]int{pid}).threads)
		}
	}
	return n
}

// killAll kills all descendants of this process, which must be a subreaper, within guard.EndsWithin. It
// stops them first, so that they start no more processes.
func killAll() {
	self := os.Getpid()
	for deadline := time.Now().Add(guard.EndsWithin); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		signalAll(self, descendants(self), unix.SIGSTOP, unix.SIGKILL)
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if errors.Is(err, unix.ECHILD) {
				return // reliable, unlike the list of children, which can lack one while another ends (proc(5))
			}
			if pid <= 0 || err != nil {
				break
			}
		}
	}
}

// signalAll sends signals to the processes in pids that are descendants of self. The ID of an ended
// process may have been reused, so each process is opened as a pidfd before it is looked up among
// the descendants again.
func signalAll(self int, pids []int, signals ...unix.Signal) {
	held := map[int]int{}
	for _, pid := range pids {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			held[pid] = fd
			defer unix.Close(fd)
		} else if !errors.Is(err, unix.ESRCH) {
			held[pid] = -1 // refused by a container, or too many: fall back to the ID
		}
	}
	still := descendants(self)
	for _, s := range signals {
		for _, pid := range still {
			switch fd, ok := held[pid]; {
			case !ok:
			case fd < 0:
				_ = unix.Kill(pid, s) // it may have ended
			default:
				_ = unix.PidfdSendSignal(fd, s, nil, 0) // likewise
			}
		}
	}
}

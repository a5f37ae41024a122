//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// children returns the processes that pid is the parent of, ended ones too.
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

// descendants returns the children of pid, theirs and so on.
func descendants(pid int) (all []int) {
	for _, child := range children(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}

// A usage is what processes take.
type usage struct {
	resident int64 // bytes, those that are shared once for each
	threads  int
}

func usageOf(pids []int) (sum usage) {
	for _, pid := range pids {
		if t, ok := running(pid); ok {
			sum.threads += t.threads
			sum.resident += t.resident
		}
	}
	return sum
}

// A thread is one of a process, and what that takes.
type thread struct {
	id    int // /proc/ID tells of its process, too
	ended bool
	usage
}

// running returns a thread of a process that has not ended: first the one that the process is named for, which can
// end before others. Then Linux tells nothing by its number, and what is in /proc/PID is root's.
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

const ending = 4 // PF_EXITING: its memory goes, which can take long

func threadOf(id int) (t thread, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	at := bytes.LastIndexByte(b, ')') // of the name, which may be anything
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
	t.threads, _ = strconv.Atoi(fields[17])
	t.resident = pages * int64(os.Getpagesize())
	return t, true
}

// proportional returns what processes have in memory, each a part of what they
// share (Pss), and what of it is files in memory: exact, and slow for much memory.
func proportional(pids []int) (sum, shared int64) {
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
		sum += all
		mapped, _ := field("Pss_Shmem") // since Linux 5.4
		shared += mapped
	}
	return sum, shared
}

// threadsOf counts the threads of a user's processes.
func threadsOf(uid int) (n uint64) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if info, err := os.Stat("/proc/" + e.Name()); err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == uid {
			n += uint64(usageOf([]int{pid}).threads)
		}
	}
	return n
}

// killAll ends all descendants of this process, which is the parent of those
// whose own has ended. First they are stopped, so that they start no more.
func killAll() {
	self := os.Getpid()
	for deadline := time.Now().Add(EndsWithin); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		all := descendants(self)
		if len(all) == 0 {
			return
		}
		for _, pid := range all {
			_ = unix.Kill(pid, unix.SIGSTOP)
		}
		for _, pid := range all {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if pid <= 0 || err != nil {
				break
			}
		}
	}
}

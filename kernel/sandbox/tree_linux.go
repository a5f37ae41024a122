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
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		at := bytes.LastIndexByte(b, ')') // of the name, which may be anything
		if err != nil || at < 0 {
			continue
		}
		fields := strings.Fields(string(b[at+1:]))
		if len(fields) < 22 || fields[0] == "Z" {
			continue
		}
		threads, _ := strconv.Atoi(fields[17])
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		sum.threads += threads
		sum.resident += pages * int64(os.Getpagesize())
	}
	return sum
}

// proportional returns what processes have in memory, each a part of what they
// share (Pss), and what of it is files in memory: exact, and slow for much memory.
func proportional(pids []int) (sum, shared int64) {
	for _, pid := range pids {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
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
			all = usageOf([]int{pid}).resident
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

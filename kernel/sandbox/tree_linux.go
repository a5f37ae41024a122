//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dsstar/kernel/internal/guard"
)

// children returns the child processes of pid, including zombies.
func children(pid int) (all []int) {
	base := "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks, _ := os.ReadDir(base) // none if it has ended
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
func descendants(pid int) (all []int) {
	for _, child := range children(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}

// A usage is what processes consume.
type usage struct {
	resident int64 // bytes of memory, without mapped files
	tables   int64 // bytes of page tables, which resident does not include
	threads  int   // including zombies
}

// usageOf sums the usage of processes. Mapped files do not count, as the system drops their pages
// when it needs memory: a cell may map a file that is larger than its limit, as Polars does. Memory that
// processes share counts once for each, or once in all if the sum is to be exact, which is slow.
func usageOf(pids []int, exact bool) (sum usage) {
	for _, pid := range pids {
		folder, status := running(pid)
		sum.threads += max(1, int(status("Threads")))
		sum.tables += status("VmPTE") << 10
		resident := status("RssAnon") + status("RssShmem")
		if exact {
			share := numbersIn(folder + "smaps_rollup")
			resident = cmp.Or(share("Pss")-share("Pss_File"), resident)
		}
		sum.resident += resident << 10
	}
	return sum
}

// numbersIn returns the numbers in a file of /proc by their names, 0 for those that it lacks.
func numbersIn(file string) func(name string) int64 {
	b, _ := os.ReadFile(file) // the process may have ended
	return func(name string) int64 {
		_, after, _ := bytes.Cut(b, []byte("\n"+name+":"))
		line, _, _ := bytes.Cut(after, []byte("\n"))
		n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(string(line), "kB")), 10, 64)
		return n
	}
}

func folderOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/" }

// running returns the folder and the status of a thread of a process that has memory: of the leader,
// or of another if the leader has ended. Linux then reports nothing through the leader's files, which
// are root's.
func running(pid int) (folder string, status func(name string) int64) {
	folder = folderOf(pid)
	if status = numbersIn(folder + "status"); status("VmPTE") > 0 {
		return folder, status
	}
	tasks, _ := filepath.Glob(folder + "task/*") // it may have gone
	for _, task := range tasks {
		if of := numbersIn(task + "/status"); of("VmPTE") > 0 {
			return task + "/", of
		}
	}
	return folder, status
}

// threadsOf counts the threads of all processes of a user.
func threadsOf(uid int) (n uint64) {
	folders, _ := filepath.Glob("/proc/[1-9]*") // the pattern is valid
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		if info, err := os.Stat(folder); err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == uid {
			n += uint64(usageOf([]int{pid}, false).threads)
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
// process may have been reused, so each process is opened (os.FindProcess, as a pidfd where that is
// not refused) before it is looked up among the descendants again.
func signalAll(self int, pids []int, signals ...os.Signal) {
	held := map[int]*os.Process{}
	for _, pid := range pids {
		held[pid], _ = os.FindProcess(pid) // one that has ended takes no signal
		defer held[pid].Release()
	}
	still := descendants(self)
	for _, s := range signals {
		for _, pid := range still {
			if p := held[pid]; p != nil {
				_ = p.Signal(s) // it may have ended
			}
		}
	}
}

package undokernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

// Going back ends a cell that cannot be interrupted, and the processes that it has started.
func TestRollBackRunning(t *testing.T) {
	t.Parallel()
	k := openCheckpoints(t, testPython(t))
	runCell(t, k, "x = 1", notebook.OK)
	id := checkpoint(t, k)
	mark := filepath.Base(t.TempDir()) + fmt.Sprint(os.Getpid())
	for name, code := range map[string]string{
		"ignores SIGINT": "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); x = 2\nprint('started', flush=True)\nwhile True: pass",
		"holds the GIL":  "import re; x = 3; print('started', flush=True); re.match(r'(a+)+$', 'a' * 40 + 'b')",
		"prints":         "print('started')\nwhile True: print('z' * 1000)",
		"has processes": "import subprocess, os, time; sleep = ['sh', '-c', ': " + mark +
			"; sleep 99; true']\nsubprocess.Popen(sleep); subprocess.Popen(sleep, start_new_session=True)\n" +
			"os.system('(setsid sh -c \": " + mark +
			"; sleep 99; true\" >/dev/null 2>&1 &)'); print('started'); time.sleep(99)",
	} {
		started, once, done := make(chan bool), sync.Once{}, make(chan notebook.Execution, 1)
		go func() {
			x, err := k.ExecuteCell(t.Context(), kernel.Cell{Code: code, Observe: func(notebook.Output) {
				once.Do(func() { close(started) })
			}})
			check(t, err)
			done <- x
		}()
		<-started
		if n := len(kerneltest.With(mark, "cmdline")); name == "has processes" && n < 3 {
			t.Errorf("%d processes run", n)
		}
		start := time.Now()
		rollBack(t, k, id)
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if x := <-done; x.Status != notebook.Raised {
			t.Errorf("%s: %+v", name, x)
		}
		prints(t, k, "x", "1")
		if left := kerneltest.With(mark, "cmdline"); len(left) > 0 {
			t.Errorf("%s: processes %v are left", name, left)
		}
	}
}

func childrenOf(pid int) (children []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		b, _ := os.ReadFile(file) // the thread may have ended
		for _, word := range strings.Fields(string(b)) {
			children = append(children, must(strconv.Atoi(word)))
		}
	}
	return children
}

// whenReady goes back to the checkpoint id and waits for its readied copy, the only one.
func whenReady(t testing.TB, k *kernel.Kernel, id string) kept {
	t.Helper()
	rollBack(t, k, id)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		list := request(t, k, "undokernel_checkpoints_request", struct{}{})
		ready := slices.DeleteFunc(list.Checkpoints, func(c kept) bool { return c.Ready == 0 })
		at := slices.IndexFunc(ready, func(c kept) bool { return c.Checkpoint == id })
		if at >= 0 && len(ready) == 1 {
			return ready[at]
		}
		if at >= 0 || time.Now().After(deadline) {
			t.Fatalf("no copy is ready, or more than one: %+v", list)
		}
	}
}

// TestNothingGrows: however often a session is kept, restored, interrupted and killed, it is the
// same, the kernel holds no more than before, each checkpoint is one process, with one readied copy
// for all, and no process is left at the end.
func TestNothingGrows(t *testing.T) {
	t.Parallel()
	k := openCheckpoints(t, testPython(t))
	front := frontOf(t, k)
	// The user's socket time-out and many open files do not affect the copies. pyzmq opens descriptors
	// for good with the first large message.
	runCell(t, k, "import os, random, resource, socket; random.seed(1); socket.setdefaulttimeout(.01)\n"+
		"most = min(1500, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100)\n"+
		"many = [os.open('/dev/null', 0) for _ in range(most)]; print('y' * 1_000_000)", notebook.OK)
	first := checkpoint(t, k)
	want := runCell(t, k, "print(random.random(), end='')", notebook.OK).Stdout()
	var early use
	for i := range 6 {
		second := checkpoint(t, k)
		ready := whenReady(t, k, second).Ready
		switch i % 3 {
		case 0:
			runCell(t, k, "os._exit(3)", notebook.Died)
		case 1:
			k.Interrupt() // a signal to the group, which leaves no trace in a copy
		case 2:
			ok(t, syscall.Kill(ready, syscall.SIGKILL))
		}
		rollBack(t, k, second)
		request(t, k, "undokernel_drop_request", map[string]any{"checkpoints": []string{second}})
		whenReady(t, k, first)
		prints(t, k, "random.random()", want)
		settle(t, front, 3) // the checkpoint, the readied copy and the session
		now := usedBy(t, k)
		if early == (use{}) {
			early = now
		}
		if now.descriptors > early.descriptors+2 || now.memory > early.memory+early.memory/5+4<<20 ||
			now.live > early.live+2 || now.depth > early.depth {
			t.Errorf("it grows: %+v, and was %+v", now, early)
		}
	}
	all := append(childrenOf(front), front)
	check(t, k.Close())
	for _, pid := range all {
		gone(t, pid)
	}
}

// settle waits until a process has that many children, none of which has ended.
func settle(t *testing.T, pid, n int) {
	t.Helper()
	var all []int
	for range 1000 {
		all = childrenOf(pid)
		ended := func(pid int) bool { s := kerneltest.State(pid); return s == "Z" || s == "" }
		if len(all) == n && !slices.ContainsFunc(all, ended) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d children, want %d: %v", len(all), n, all)
}

// A checkpoint requested during a cell is made after it. A request for a checkpoint that is gone,
// refused or unknown leaves the kernel as it was.
func TestCheckpointMisfortunes(t *testing.T) {
	t.Parallel()
	k := openCheckpoints(t, testPython(t))
	done := make(chan notebook.Execution, 1)
	go func() { x, _ := k.Execute(t.Context(), "import time; time.sleep(1); x = 9"); done <- x }()
	time.Sleep(300 * time.Millisecond)
	id := checkpoint(t, k)
	if x := <-done; x.Status != notebook.OK {
		t.Fatalf("%+v", x)
	}
	runCell(t, k, "x = 10", notebook.OK)
	// A death between two cells is reported with the next one, and the session can go back.
	runCell(t, k, "import os, signal; signal.signal(signal.SIGALRM, lambda *_: os._exit(3))", notebook.OK)
	live := request(t, k, "undokernel_checkpoints_request", struct{}{}).Live.PID
	ok(t, syscall.Kill(live, syscall.SIGALRM))
	gone(t, live)
	if x := runCell(t, k, "x", notebook.Died); x.Reason != "the kernel died: exit status 3" ||
		len(x.Outputs) > 0 || k.Alive() {
		t.Errorf("%+v, alive %v", x, k.Alive())
	}
	if rollBack(t, k, id); !k.Alive() {
		t.Error("the kernel is still dead after going back")
	}
	prints(t, k, "x", "9")
	kept := whenReady(t, k, id)
	prints(t, k, "x", "9")
	runCell(t, k, "import os; x = 11; os.register_at_fork(after_in_child=lambda: os._exit(9))",
		notebook.OK)
	if reply := request(t, k, "undokernel_checkpoint_request", struct{}{}); reply.EName != "Failed" {
		t.Errorf("with a hook that ends the copy: %+v", reply)
	}
	ok(t, syscall.Kill(kept.PID, syscall.SIGKILL))
	gone(t, kept.Ready)
	for _, lost := range []string{id, "nonsense"} {
		if reply := request(t, k, "undokernel_rollback_request",
			map[string]string{"checkpoint": lost}); reply.EName != "NoCheckpoint" {
			t.Errorf("%s: %+v", lost, reply)
		}
	}
	prints(t, k, "x", "11")
	// No process survives a front that is killed.
	front := frontOf(t, k)
	children := childrenOf(front)
	if err := syscall.Kill(front, syscall.SIGKILL); err != nil || len(children) == 0 {
		t.Fatal(children, err)
	}
	for _, pid := range children {
		gone(t, pid)
	}
}

// A use is what a kernel uses.
type use struct {
	descriptors, memory int // of the front
	live, depth         int // descriptors of the worker, and frames of its stack
}

func usedBy(t testing.TB, k *kernel.Kernel) use {
	t.Helper()
	pid := frontOf(t, k)
	var u use
	fds := must(os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)))
	u.descriptors = len(fds)
	var pages int
	statm := must(os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)))
	fmt.Sscanf(string(statm), "%d %d", &pages, &pages)
	u.memory = pages * os.Getpagesize()
	x, err := k.Silently(t.Context(), "print(len(__import__('os').listdir('/proc/self/fd')), "+
		"len(__import__('inspect').stack()))", time.Minute)
	ok(t, err)
	_ = must(fmt.Sscan(x.Stdout(), &u.live, &u.depth))
	return u
}

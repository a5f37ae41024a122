package sandbox_test

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

	"golang.org/x/sys/unix"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// exceeding are ways to take more than 128 MB of memory, or 8 MB of disk, and wait.
var exceeding = map[string]string{
	"file":       "fill(open('x', 'wb'), 24)",
	"many files": "for i in range(2100): open(str(i), 'w').close()",
	"folders":    "for i in range(2100): os.mkdir(str(i))",
	"deep":       "for i in range(600): os.mkdir('d'); os.chdir('d')",
	"memfd":      "os.memfd_create('x')",
	"shared":     shared,
	"unled":      "unled(lambda: shared_pages(150))",
	"zombies":    "for i in range(150):\n    if os.fork() == 0: os._exit(0)",
	// An unreaped child must not end the session, though only root can read its files in /proc.
	"unreaped": "import subprocess; p = subprocess.Popen(['/bin/true'])\n" +
		"time.sleep(1.2); sys.exit('lives')",
	"forked": "kept = bytearray(b'x') * (60 << 20)\nfor i in range(4):\n    if os.fork() == 0: time.sleep(3); os._exit(0)\n" +
		"time.sleep(1.2); sys.exit('lives')",
	"too much": `for v in map(os.statvfs, ['/dev/shm', '/tmp']): print(v.f_blocks * v.f_frsize // 10**6)
sys.exit()`,
}

// heavy are such ways that take much of the machine's memory.
var heavy = map[string]string{
	"page tables": `flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
m = mmap.mmap(-1, 80 << 30, flags=flags, prot=mmap.PROT_READ)
for i in range(0, 80 << 30, 2 << 20): m[i]`,
}

const shared = "shared_pages(150)"

const fill = `import ctypes, mmap, os, platform, sys, threading, time
libc, kept = ctypes.CDLL(None), []
def fill(f, n):
    os.posix_fallocate(f.fileno(), 0, n << 20)
def shared_pages(n):
    kept.append(mmap.mmap(-1, n << 20))
    for i in range(n): kept[0].write(b'x' * 2**20)
def unled(work): # the first thread ends, and another works
    threading.Thread(target=lambda: (time.sleep(.3), work(), time.sleep(200))).start()
    libc.syscall(60 if platform.machine() == 'x86_64' else 93, 0)
`

// TestLimits: what takes more than the limits ends the session, or is refused.
func TestLimits(t *testing.T) {
	t.Parallel()
	exceed(t, exceeding)
}

func TestLimitsHeavy(t *testing.T) {
	pyenvtest.Long(t)
	exceed(t, heavy)
}

func exceed(t *testing.T, ways map[string]string) {
	python := userPython(t)
	var all sync.WaitGroup
	defer all.Wait()
	for _, box := range plainBoxes(t) {
		for name, code := range ways {
			box := box
			var want string
			if box.Limits, want = endOf(name, box.Tier); want == "" {
				continue
			}
			cmd, _ := commandIn(t, box, python, "-c", fill+code+"\ntime.sleep(200)")
			all.Go(func() { // concurrently, as they mostly wait
				words := run(cmd)
				if !slices.ContainsFunc(strings.Split(want, "|"),
					func(want string) bool { return strings.Contains(words, want) }) {
					t.Errorf("%s: %s: %q, want %q", box.Tier, name, words, want)
				}
			})
		}
	}
}

// endOf returns the limits for a way of exceeding or heavy, and words of the message that ends it,
// alternatives separated by |; "" if it cannot be tried.
func endOf(name string, tier sandbox.Tier) (limits sandbox.Limits, want string) {
	limits = sandbox.Limits{Memory: 128e6, Folder: 8e6}
	switch name {
	case "file", "many files", "folders":
		return limits, "limit 8 MB; raise it with --max-folder"
	case "deep":
		return limits, "folders are nested too deeply"
	case "memfd":
		return limits, "Function not implemented"
	case "zombies":
		limits.Processes = 20
		if os.Getuid() == 0 {
			return limits, "limit 20; raise it with --max-processes"
		}
		// Linux counts all of the user's at the start
		return limits, "Resource temporarily unavailable|limit 20; raise it"
	case "unreaped", "forked":
		return limits, "lives\n"
	case "too much":
		if tier == sandbox.Builtin {
			return limits, "" // they belong to the machine, and are closed
		}
		return limits, "128\n128"
	}
	return limits, "limit 128 MB; read the data in parts, or raise it with --max-memory"
}

// Whichever of the guard's processes is killed, the other kills what the program has left.
func TestKilledGuard(t *testing.T) {
	python := userPython(t)
	const code = `import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    sys.stdout.write("left\n"); sys.stdout.flush()
    time.sleep(37)
time.sleep(37)`
	for _, box := range plainBoxes(t) {
		for _, name := range []string{"keeper", "guard"} {
			work := t.TempDir()
			s := session(t, work)
			cmd := command(t, box, s, work, os.Environ(), python, "-c", code)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			started(t, cmd)
			pid := -cmd.Process.Pid // its group, as its starter does in the end
			if name == "guard" {
				if pid = childOf(cmd.Process.Pid); pid == 0 {
					t.Fatal("it has no child")
				}
			}
			if len(processesWith(s.Private)) < 2 {
				t.Error("the processes of the session are not seen")
			}
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait() // it was killed
			left := processesWith(s.Private)
			for i := 0; i < 3000 && len(left) > 0; i++ {
				time.Sleep(20 * time.Millisecond)
				left = processesWith(s.Private)
			}
			if len(left) > 0 {
				t.Errorf("%s: the %s was killed, and processes %v are left", box.Tier, name, left)
			}
		}
	}
}

// No process between guard and program has the pipe on which the guard reports.
func TestReportIsTheGuards(t *testing.T) {
	for _, box := range plainBoxes(t) {
		report, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer report.Close()
		defer write.Close()
		pipe, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", write.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		cmd := command(t, box, sandbox.Session{Private: t.TempDir(), Reports: true}, "/", nil,
			"/bin/sh", "-c", "trap '' INT TERM; echo runs; sleep 60")
		cmd.SysProcAttr, cmd.ExtraFiles = &syscall.SysProcAttr{Setsid: true}, []*os.File{write}
		started(t, cmd)
		fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
		if err != nil {
			t.Fatal(err)
		}
		mayHave := []int{os.Getpid(), cmd.Process.Pid, childOf(cmd.Process.Pid)}
		for _, fd := range fds {
			target, _ := os.Readlink(fd) // it may be closed, or another user's
			pid, _ := strconv.Atoi(strings.Split(fd, "/")[2])
			if target == pipe && !slices.Contains(mayHave, pid) {
				t.Errorf("%s: %s is the pipe", box.Tier, fd)
			}
		}
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait() // it was ended
	}
}

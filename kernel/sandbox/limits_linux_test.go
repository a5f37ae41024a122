package sandbox_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// A way to take more than 128 MB of memory, 8 MB of disk or 20 processes.
type excess struct {
	code string
	want string // words of the message that ends it, alternatives separated by |
	full bool   // also in full: what counts is the same code
}

const (
	folderLimit = "limit 8 MB; raise it with --max-folder"
	memoryLimit = "limit 128 MB; read the data in parts, or raise it with --max-memory"
)

var exceeding = map[string]excess{
	"file":       {"fill(open('x', 'wb'), 24)", folderLimit, true},
	"many files": {"for i in range(2100): open(str(i), 'w').close()", folderLimit, false},
	"folders":    {"for i in range(2100): os.mkdir(str(i))", folderLimit, false},
	"deep": {"for i in range(600): os.mkdir('d'); os.chdir('d')", "folders are nested too deeply",
		false},
	"memfd":  {"os.memfd_create('x')", "Function not implemented", true},
	"shared": {"shared_pages(150)", memoryLimit, true},
	"unled":  {"unled(lambda: shared_pages(150))", memoryLimit, false},
	// Linux counts all of an ordinary user's at the start
	"zombies": {"for i in range(150):\n    if os.fork() == 0: os._exit(0)",
		"limit 20; raise it with --max-processes|Resource temporarily unavailable", true},
	// An unreaped child must not end the session, though only root can read its files in /proc.
	"unreaped": {"import subprocess; p = subprocess.Popen(['/bin/true'])\n" +
		"time.sleep(1.2); sys.exit('lives')", "lives\n", false},
	"forked": {"kept = bytearray(b'x') * (60 << 20)\nfor i in range(4):\n" +
		"    if os.fork() == 0: time.sleep(3); os._exit(0)\ntime.sleep(1.2); sys.exit('lives')", "lives\n",
		true},
	// A file that is mapped, and larger than the limit, takes no memory that anything else lacks.
	"mapped": {`large = mmap.mmap(os.open(sys.argv[1], 0), 0, prot=mmap.PROT_READ)
for i in range(0, len(large), 4096): large[i]
time.sleep(1.2); sys.exit('lives')`, "lives\n", true},
}

// heavy are such ways that take much of the machine's memory.
var heavy = map[string]excess{
	"page tables": {`flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
m = mmap.mmap(-1, 80 << 30, flags=flags, prot=mmap.PROT_READ)
for i in range(0, 80 << 30, 2 << 20): m[i]`, memoryLimit, true},
}

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
	if os.Getenv("DSSTAR_LONG") != "" {
		again(t, user)
	}
	exceed(t, exceeding)
}

func TestLimitsHeavy(t *testing.T) {
	pyenvtest.Long(t)
	exceed(t, heavy)
}

func exceed(t *testing.T, ways map[string]excess) {
	python, large := userPython(t), outside(t, map[string]string{"file": ""})+"/file"
	ok(t, os.Truncate(large, 300<<20))
	var all sync.WaitGroup
	defer all.Wait()
	for _, box := range boxes(t, large) {
		for name, way := range ways {
			if box.Tier == sandbox.Full && !way.full {
				continue
			}
			if box.Limits = (sandbox.Limits{Memory: 128e6, Folder: 8e6}); name == "zombies" {
				box.Limits.Processes = 20
			}
			code := fill + way.code + "\ntime.sleep(200)"
			cmd := commandIn(t, box, os.Environ(), python, "-c", code, large)
			all.Go(func() { // concurrently, as they mostly wait
				words := run(cmd)
				if !slices.ContainsFunc(strings.Split(way.want, "|"),
					func(want string) bool { return strings.Contains(words, want) }) {
					t.Errorf("%s: %s: %q, want %q", box.Tier, name, words, way.want)
				}
			})
		}
	}
}

// The limit of processes and threads is for the box alone, although Linux counts those of all of a
// user's programs.
func TestLimitBesideOthers(t *testing.T) {
	if !slices.Contains(again(t, user), user) {
		return // Linux does not count root's
	}
	python := userPython(t)
	const threads = `import sys, threading, time
for i in range(int(sys.argv[1])):
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print('started', flush=True)
`
	other := exec.Command(python, "-c", threads+"time.sleep(600)", "100")
	started(t, other)
	defer func() { _, _ = other.Process.Kill(), other.Wait() }()
	for _, box := range boxes(t) {
		box.Limits.Processes = 50
		for n, want := range map[string]string{"30": "started\n", "120": "can't start new thread"} {
			if got := said(t, box, os.Environ(), python, "-c", threads, n); !strings.Contains(got, want) {
				t.Errorf("%s threads of 50 in %s, beside 100 of another program: %s", n, box.Tier, got)
			}
		}
	}
}

// If the guard is killed, Linux kills the program and, in full, all that runs in the namespaces.
func TestKilledGuard(t *testing.T) {
	for _, box := range boxes(t, t.TempDir()) {
		t.Run(string(box.Tier), func(t *testing.T) { testKilledGuard(t, box) })
	}
}

func testKilledGuard(t *testing.T, box sandbox.Box) {
	code, least := "import time; print(flush=True); time.sleep(900)", 1
	if box.Tier == sandbox.Full {
		code, least = leaving, 2
	}
	work := t.TempDir()
	s := session(t, work)
	cmd := command(t, box, s, work, os.Environ(), userPython(t), "-c", code)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	started(t, cmd)
	left := func() []int { return kerneltest.With(s.Private, "environ") }
	if len(left()) < least {
		t.Error("the processes of the session are not seen")
	}
	// its group, as its starter does in the end
	check(t, unix.Kill(-cmd.Process.Pid, unix.SIGKILL))
	_ = cmd.Wait() // it was killed
	for end := time.Now().Add(time.Minute); len(left()) > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range left() {
		t.Errorf("process %d is left", pid)
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// leaving is a program that leaves a process.
const leaving = `import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    sys.stdout.write("left\n"); sys.stdout.flush()
    time.sleep(900)
time.sleep(900)`

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

// unseen are ways to hold memory or disk that shows in no folder and in no process's own memory.
// Each takes more than 128 MB of memory, or 16 MB of disk, and waits.
var unseen = map[string]string{
	"deleted":  "f = open('x', 'wb'); os.remove('x'); fill(f, 24)",
	"nameless": "f = open(os.open('.', os.O_TMPFILE | os.O_RDWR), 'wb'); fill(f, 24)",
	"mapped": `f = open('x', 'w+b'); fill(f, 24); m = mmap.mmap(f.fileno(), 0)
os.remove('x'); f.close()`,
	"memfd":      "f = open(os.memfd_create('x'), 'wb'); fill(f)",
	"undumpable": "libc.prctl(4, 0, 0, 0, 0); f = open(os.memfd_create('x'), 'wb'); fill(f)",
	"unreadable": `f = open(os.open('p', os.O_CREAT | os.O_WRONLY, 0o111), 'wb')
f.write(open(sys.executable, 'rb').read()); f.close(); m = os.memfd_create('x', 0)
if not os.getuid(): fill(open(m, 'wb', closefd=False))
os.set_inheritable(m, True); os.execv('p', ['p', '-c', 'import time; time.sleep(200)'])`,
	"unlisted": "os.mkdir('unlisted', 0o300); fill(open('unlisted/x', 'wb'), 24)",
	"untold":   "os.mkdir('untold'); f = open('untold/x', 'wb'); os.chmod('untold', 0o400); fill(f, 24)",
	"deep": `for i in range(20): os.mkdir('d' * 250); os.chdir('d' * 250)
fill(open('x', 'wb'), 24)`,
	"deeper":  "for i in range(600): os.mkdir('d'); os.chdir('d')",
	"many":    "for i in range(2100): open(str(i), 'w').close()",
	"folders": "for i in range(2100): os.mkdir(str(i))",
	"unled":   "unled(lambda: fill(open(os.memfd_create('x'), 'wb', closefd=False)))",
	"unled too": `m = mmap.mmap(-1, 150 << 20)
unled(lambda: [m.write(b'x' * 2**20) for i in range(150)])`,
	"in memory": "for d in '/dev/shm', '/tmp': fill(open(d + '/dsstar-unseen', 'wb'), 75)",
	"sockets": `import socket
kept = [s for i in range(500) for s in socket.socketpair()]
for s in kept: fill_socket(s, 30000)`,
	"loopback":              loopback,
	"loopback, with zombie": "if os.fork() == 0: os._exit(0)\n" + loopback,
	"zombies":               "for i in range(150):\n    if os.fork() == 0: os._exit(0)",
	// An unreaped child must not end the session, though only root can read its files in /proc.
	"unreaped": "import subprocess; p = subprocess.Popen(['/bin/true'])\n" +
		"time.sleep(1.2); sys.exit('lives')",
	"too much": `for v in map(os.statvfs, ['/dev/shm', '/tmp']): print(v.f_blocks * v.f_frsize // 10**6)
sys.exit()`,
}

// heavy are such ways that take much of the machine's memory.
var heavy = map[string]string{
	"page tables": `flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
m = mmap.mmap(-1, 80 << 30, flags=flags, prot=mmap.PROT_READ)
for i in range(0, 80 << 30, 2 << 20): m[i]`,
	"small files": "for i in range(140_000): os.close(os.open(f'/tmp/{i}', os.O_CREAT))",
	"mappings": `m = mmap.mmap(-1, 240 << 20); at = ctypes.addressof(ctypes.c_char.from_buffer(m))
for i in range(30000): libc.mprotect(ctypes.c_void_p(at + (i << 13)), ctypes.c_size_t(4096), 1)
for i in range(20):
    if os.fork() == 0: time.sleep(200)`,
}

// loopback fills network sockets, fewer than count as full anyway.
const loopback = `import socket
l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(); kept = []
while len(kept) < 250:
    s = socket.socket(); s.connect(l.getsockname()); kept += [s, l.accept()[0]]
    fill_socket(s, 1000000)`

const fill = `import ctypes, mmap, os, platform, sys, threading, time
libc = ctypes.CDLL(None)
def fill_socket(s, n):
    s.setblocking(False)
    try:
        while True: s.send(b'x' * n)
    except BlockingIOError: pass
def fill(f, n=150):
    os.posix_fallocate(f.fileno(), 0, n << 20)
def unled(work): # the first thread ends, and another works
    threading.Thread(target=lambda: (time.sleep(.3), work(), time.sleep(200))).start()
    libc.syscall(60 if platform.machine() == 'x86_64' else 93, 0)
`

// TestUnseen: whatever is held in these ways counts for the limits, or cannot be held.
func TestUnseen(t *testing.T) {
	t.Parallel()
	holdUnseen(t, unseen)
}

func TestUnseenHeavy(t *testing.T) {
	pyenvtest.Long(t)
	holdUnseen(t, heavy)
}

func holdUnseen(t *testing.T, ways map[string]string) {
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
			cmd, work := commandIn(t, box, python, "-c", fill+code+"\ntime.sleep(200)")
			all.Go(func() { // concurrently, as they mostly wait
				// allows removing them
				defer func() { _, _ = os.Chmod(work+"/unlisted", 0o700), os.Chmod(work+"/untold", 0o700) }()
				words := run(cmd)
				if !slices.ContainsFunc(strings.Split(want, "|"),
					func(want string) bool { return strings.Contains(words, want) }) {
					t.Errorf("%s: %s: %q, want %q", box.Tier, name, words, want)
				}
			})
		}
	}
}

// endOf returns the limits for a way of unseen or heavy, and words of the message that ends it,
// alternatives separated by |; "" if it cannot be tried.
func endOf(name string, tier sandbox.Tier) (limits sandbox.Limits, want string) {
	limits = sandbox.Limits{Memory: 128e6, Folder: 16e6}
	builtin, root := tier == sandbox.Builtin, os.Getuid() == 0
	switch name {
	case "deleted", "nameless", "mapped", "deep":
		return limits, "limit 16 MB; raise it with --max-folder"
	case "many", "folders":
		limits.Folder = 8e6
		return limits, "limit 8 MB; raise it with --max-folder"
	case "deeper":
		return limits, "a folder that it has made cannot be looked into"
	case "unlisted", "untold":
		if !root && (!builtin || name == "unlisted") { // modes do not change in builtin
			return limits, "a folder that it has made cannot be looked into"
		}
		return limits, "limit 16 MB; raise it with --max-folder"
	case "unreadable":
		if !root {
			return limits, "cannot be looked into"
		}
	case "in memory":
		if builtin {
			return limits, "Permission denied"
		}
	case "loopback", "loopback, with zombie", "small files":
		if builtin { // no network; each file of the session counts 4 KB
			return limits, ""
		}
	case "mappings":
		limits.Memory = 512e6
		return limits, "memory mappings"
	case "zombies":
		limits.Processes = 20
		if root {
			return limits, "limit 20; raise it with --max-processes"
		}
		// Linux counts all of the user's at the start
		return limits, "Resource temporarily unavailable|limit 20; raise it"
	case "unreaped":
		limits.Memory = 512e6
		return limits, "lives\n"
	case "too much":
		if builtin {
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

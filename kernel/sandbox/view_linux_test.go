package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dsstar/kernel/sandbox"
)

// seen checks what a process can find out about its namespaces.
const seen = `import os, socket
for path in ("/tmp", "/dev/shm"):
    assert os.statvfs(path).f_blocks * os.statvfs(path).f_frsize == 1 << 30, path
assert socket.gethostname() == "sandbox"
assert [l.split(":")[0].strip() for l in list(open("/proc/net/dev"))[2:]] == ["lo"]
with socket.socket() as s: # the loopback interface is up
    s.bind(("127.0.0.1", 0)); s.listen()
    with socket.create_connection(s.getsockname(), 5): pass
for line in open("/proc/self/status"):
    if line.startswith("Cap"): assert int(line.split()[1], 16) == 0, line
for line in open("/proc/self/mountinfo"):
    flags = line.split()[5].split(",")
    assert "nosuid" in flags and ("nodev" in flags or line.split()[4].startswith("/dev")), line
assert os.listdir("../read/runs/own") == ["files"]
for path in ("/new", "/usr/new", "/etc/new", "/dev/new", "/proc/sys/kernel/hostname", "/.dsstar",
             "../read/runs/own/new"):
    try: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)); print(path, "can be written")
    except OSError: pass
for path in ("new", "../read/runs/own/files/new", "/tmp/new"): open(path, "w").close()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid(); os._exit(0) # whose parent ends: process 1 reaps it
    os._exit(0)
os.wait()
for _ in range(500):
    if not [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]: break
    __import__("time").sleep(.01)
else: print("not reaped")
print("all is well")
`

// TestView: in full, what is not allowed cannot be written, and there is no other network.
func TestView(t *testing.T) {
	t.Parallel()
	if _, _, err := sandbox.Choose("full"); err != nil && !required("full") {
		t.Skip(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, own := base+"/work", base+"/read/runs/own"
	folders(t, work, own+"/files")
	box := sandbox.Box{Tier: sandbox.Full, Read: []string{base + "/read"}, Write: []string{work}, Own: []string{own}, Limits: sandbox.Limits{Memory: 1 << 30, Processes: 64}}
	python := userPython(t)
	cmd, err := box.Command(&exec.Cmd{Path: python, Args: []string{python, "-c", seen}, Dir: work,
		Env: os.Environ()}, sandbox.Session{Private: t.TempDir(), Write: []string{own + "/files"}})
	if err != nil {
		t.Fatal(err)
	}
	if words := run(cmd); words != "all is well\n" {
		t.Error(words)
	}
}

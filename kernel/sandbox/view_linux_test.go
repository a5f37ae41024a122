package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/kernel/sandbox"
)

// seen prints what a process can find out about its namespaces.
const seen = `import fcntl, os, socket, stat, struct
def mount(f):
    flags = sorted(set(f[5].split(",")) & {"ro", "nosuid", "nodev", "noexec"})
    return "mount " + " ".join([f[4], ",".join(flags), f[f.index("-") + 1]])
print(*sorted({mount(line.split()) for line in open("/proc/self/mountinfo")}), sep="\n")
for folder in ("/", "/dev", "/dev/pts", "/dev/shm", "/etc", "/tmp", "/var",
               os.path.dirname(os.getcwd()), os.getcwd(), "../read/runs/own"):
    for name in sorted(os.listdir(folder)):
        path = folder + "/" + name
        info = os.lstat(path)
        to = os.readlink(path) if stat.S_ISLNK(info.st_mode) else ""
        print("file", folder, name, stat.filemode(info.st_mode), info.st_uid, to)
for path in ("/tmp", "/dev/shm"): print(path, os.statvfs(path).f_blocks * os.statvfs(path).f_frsize)
told = ("Uid:", "Gid:", "Cap", "NoNewPrivs:", "Seccomp:")
print([line for line in open("/proc/self/status") if line.startswith(told)])
print(socket.gethostname(), os.getuid(), os.getgid(), os.getgroups())
print(open("/proc/self/cgroup").read(), open("/proc/self/oom_score_adj").read())
interfaces = socket.if_nameindex(); print(interfaces)
with socket.socket() as s: # the loopback interface is up
    s.bind(("127.0.0.1", 0)); s.listen()
    with socket.create_connection(s.getsockname(), 5): print("connected")
print(os.umask(0), os.getsid(0) > 0, sorted(os.environ))
for path in ("/new", "/usr/new", "/etc/new", "/dev/new", "/proc/sys/kernel/hostname", "/.dsstar",
             "../read/runs/own/new", "../read/runs/own/files/new"):
    try: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)); print(path, "can be written")
    except OSError as e: print(path, e.strerror)
first = [p for p in os.listdir("/proc") if p == "1"]; print(first, os.getpid() > 1)
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid(); os._exit(0) # whose parent ends: process 1 reaps it
    os._exit(0)
os.wait()
for _ in range(500):
    if not [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]: break
    __import__("time").sleep(.01)
else: print("not reaped")
`

// The view that dsstar itself creates for full equals that of bubblewrap: mounts with their flags,
// files, devices, rights, interfaces.
func TestViews(t *testing.T) {
	t.Parallel()
	python := userPython(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, kept := base+"/work", base+"/work/deep/kept"
	own := base + "/read/runs/own"
	folders(t, kept, own+"/files")
	var words [2]string
	for i, with := range []bool{false, true} {
		box := sandbox.Box{Tier: sandbox.Full, Bubblewrap: with, Read: []string{base + "/read", kept},
			Write: []string{work}, Own: []string{own},
			Limits: sandbox.Limits{Memory: 1 << 30, Processes: 64}}
		private := base + "/private"
		cmd, err := box.Command(&exec.Cmd{Path: python, Args: []string{python, "-c", seen}, Dir: work,
			Env: os.Environ()}, sandbox.Session{Private: private, Write: []string{own + "/files"}})
		if err != nil && with && required("full") {
			t.Fatal(err)
		}
		if err != nil {
			t.Skip(err)
		}
		words[i] = run(cmd)
		if err := os.RemoveAll(private); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(words[1], words[0]); d != "" {
		t.Errorf("bubblewrap makes -, dsstar +:\n%s", d)
	}
}

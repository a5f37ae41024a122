package sandbox_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/sandbox"
)

// victims are the targets of attacks.py, all outside the sandbox and created for one test: a home,
// a project with its data and runs, listeners, shared files, and a process. The end of the test
// removes them.
type victims struct {
	// work is the run's files/, the only folder that cells may write to
	home, project, data, run, work string
	// files in folders that all processes share: the first and the third, and beside them those that
	// attacks create
	shared [4]string
	// a secret: in files of home, in the victim's environment, in environ
	key string
	// for dsstar, or for what stands for it: it has the secret, and HOME is home
	environ []string
	// the T of attacks.py; a test may add bomb and memory
	targets map[string]any

	endpoint sandbox.Endpoint // a server that resets connections
	reached  atomic.Int32     // how many it has reset

	report *os.File // the pipe on which guards report
	victim *exec.Cmd
	canary *[16]byte // what p05 tries to read
	before map[string]string
}

// newVictims creates victims; their parent, in the terms of attacks.py, is the test process. They
// are not in /tmp, as a sandbox can have its own, and their paths are short, as those of sockets
// must be.
func newVictims(t testing.TB) *victims {
	t.Helper()
	base := must(os.MkdirTemp("/var/tmp", "dsv-"))
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	tag := strings.TrimPrefix(filepath.Base(base), "dsv-")
	v := &victims{
		home: base + "/home", project: base + "/project", data: base + "/project/data",
		run: base + "/project/runs/r1", work: base + "/project/runs/r1/files",
		key: "sk-planted-" + tag, canary: &[16]byte{},
		shared: [4]string{"/tmp/victim-" + tag, "/tmp/attack-" + tag, "/dev/shm/victim-" + tag,
			"/dev/shm/attack-" + tag},
	}
	v.environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.home, "LANG=C.UTF-8",
		"OPENAI_API_KEY=" + v.key}
	disk := [2]int{254, 0} // the numbers of a disk of the machine, or of what would be one
	disks, _ := filepath.Glob("/sys/block/*/dev")
	for _, path := range disks {
		b, _ := os.ReadFile(path)
		_, _ = fmt.Sscanf(string(b), "%d:%d", &disk[0], &disk[1])
	}
	v.targets = map[string]any{
		"home": v.home, "project": v.project, "data": v.data, "run": v.run, "parent": os.Getpid(),
		"address": uintptr(unsafe.Pointer(v.canary)), "tag": tag, "disk": disk,
		"key": fmt.Sprintf("%x", sha256.Sum256([]byte(v.key))), "tmp": v.shared[0], "shm": v.shared[2],
		"stream": base + "/docker.sock", "datagram": base + "/journal.sock", "abstract": "victim-" + tag,
		"inside": base + "/project/data/docker.sock",
	}
	for _, ns := range []string{"pid", "net", "mnt", "ipc"} {
		v.targets[ns+"ns"] = must(os.Readlink("/proc/self/ns/" + ns))
	}
	v.files(t)
	v.share(t)
	v.listen(t)
	v.start(t)
	v.before = v.state(t)
	return v
}

func (v *victims) files(t testing.TB) {
	t.Helper()
	content := map[string]string{
		v.home + "/.ssh/id_rsa":        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + v.key + "\n",
		v.home + "/.aws/credentials":   "[default]\naws_secret_access_key = " + v.key + "\n",
		v.home + "/.bashrc":            "# bashrc\n",
		v.home + "/.profile":           "# profile\n",
		v.run + "/notebook.ipynb":      "{}\n",
		v.project + "/notes.txt":       "notes\n",
		v.shared[0]:                    "of somebody else\n",
		v.shared[2]:                    v.key + "\n",
		v.work + "/of-a-cell.txt":      "of an earlier cell\n",
		v.project + "/runs/r0/n.ipynb": "{}\n",
		v.home + "/.local/share/jupyter/runtime/kernel-1.json": `{"key":"` + v.key + `"}`,
	}
	for _, name := range []string{"a", "b", "b2", "c", "d", "e"} {
		content[v.data+"/"+name+".csv"] = "a,b\n1,2\n3,4\n"
	}
	t.Cleanup(func() {
		for _, path := range v.shared {
			_ = os.Remove(path)
		}
	})
	write(t, "/", content)
	// not every file system supports it
	_ = unix.Setxattr(v.home+"/.ssh/id_rsa", "user.origin", []byte("of somebody"), 0)
}

// share creates what processes share that is not a file: a pipe for the reports of guards, memory
// of System V and, if Linux has them, a POSIX message queue.
func (v *victims) share(t testing.TB) {
	t.Helper()
	name, key := "victim-"+v.targets["tag"].(string), int(rand.Int32N(1<<30))+1
	read, write, err := os.Pipe()
	ok(t, err)
	v.report = write
	segment := must(unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600))
	path := unsafe.Pointer(must(unix.BytePtrFromString(name)))
	queue, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(path), unix.O_CREAT|unix.O_RDWR, 0o600,
		0, 0, 0)
	if errno == 0 {
		_ = unix.Close(int(queue))
	}
	t.Cleanup(func() {
		_, _ = read.Close(), write.Close()
		_, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil)
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(path), 0, 0)
	})
	v.targets["report"] = must(os.Readlink(fmt.Sprintf("/proc/self/fd/%d", write.Fd())))
	v.targets["segment"], v.targets["queue"] = key, name
}

// listen creates sockets. Connections need not be accepted, and only packets over UDP are answered.
func (v *victims) listen(t testing.TB) {
	t.Helper()
	v.targets["tcp"] = listen(t, "tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	listen(t, "unix", v.targets["stream"].(string))
	listen(t, "unix", v.targets["inside"].(string))
	listen(t, "unix", "@"+v.targets["abstract"].(string))
	named := must(net.ListenPacket("unixgram", v.targets["datagram"].(string)))
	abstract := must(net.ListenPacket("unixgram", "@"+v.targets["abstract"].(string)+"d"))
	udp := must(net.ListenPacket("udp", "127.0.0.1:0"))
	t.Cleanup(func() { _, _, _ = named.Close(), abstract.Close(), udp.Close() })
	v.targets["udp"] = udp.LocalAddr().(*net.UDPAddr).Port
	go func() {
		for _, from, err := udp.ReadFrom(nil); err == nil; _, from, err = udp.ReadFrom(nil) {
			_, _ = udp.WriteTo([]byte("pong"), from)
		}
	}()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil { // without IPv6
		l = must(net.Listen("tcp", "127.0.0.1:0"))
	}
	at := l.Addr().(*net.TCPAddr)
	v.endpoint = sandbox.Endpoint{Host: at.IP.String(), Port: serve(t, l, v.reset)}
	v.targets["endpoint"] = []any{v.endpoint.Host, v.endpoint.Port}
}

// reset resets a connection once its client has sent something, or has gone, even by another way.
func (v *victims) reset(c net.Conn) {
	v.reached.Add(1)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.Read(make([]byte, 1))
	_, _ = c.(*net.TCPConn).SetLinger(0), c.Close()
}

// start starts the victim, a shell that ignores SIGUSR1 and ends with the test, however that ends.
func (v *victims) start(t testing.TB) {
	t.Helper()
	script := `trap "" USR1; echo ready; while read -r line; do :; done`
	v.victim = exec.Command("sh", "-c", script, "victim", "--password=hunter2")
	v.victim.Env = []string{"PATH=" + os.Getenv("PATH"), "SERVICE_KEY=" + v.key}
	stdin := must(v.victim.StdinPipe())
	started(t, v.victim)
	t.Cleanup(func() {
		_, _, _ = stdin.Close(), v.victim.Process.Kill(), v.victim.Wait()
		for _, pid := range v.daemons() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	v.targets["victim"] = v.victim.Process.Pid
}

// python returns a statement that defines the dict T with the targets, for the named attempts or,
// without names, for all that need not run separately.
func (v *victims) python(only ...string) string {
	targets := maps.Clone(v.targets)
	if len(only) > 0 {
		targets["only"] = only
	}
	text := must(json.Marshal(targets))
	return "import json\nT = json.loads(" + strconv.QuoteToASCII(string(text)) + ")\n"
}

// daemons returns the processes that p17_daemon_survives has left.
func (v *victims) daemons() []int {
	return kerneltest.With("daemon-"+v.targets["tag"].(string), "cmdline")
}

// harm returns what outside differs from what newVictims created.
func (v *victims) harm(t testing.TB) (harms []string) {
	t.Helper()
	after := v.state(t)
	all := maps.Clone(v.before)
	maps.Copy(all, after)
	for _, what := range slices.Sorted(maps.Keys(all)) {
		if after[what] != v.before[what] {
			harms = append(harms, fmt.Sprintf("%s was %q, is %q", what, v.before[what], after[what]))
		}
	}
	return harms
}

// unharmed fails the test if there is harm.
func (v *victims) unharmed(t testing.TB) {
	t.Helper()
	if harms := v.harm(t); len(harms) > 0 {
		t.Errorf("harmed: %q", harms)
	}
}

// state returns what attacks could change: the files outside, except those that cells can write,
// and the victim. The time of a file's last change is that of its attributes and flags, too.
func (v *victims) state(t testing.TB) map[string]string {
	t.Helper()
	state := map[string]string{"victim": v.condition()}
	for _, top := range append(v.shared[:], v.home, v.project) {
		ok(t, filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case path == v.work:
				return filepath.SkipDir
			}
			var s unix.Stat_t
			var content []byte
			if entry.Type().IsRegular() {
				content, err = os.ReadFile(path)
			}
			err = errors.Join(err, unix.Lstat(path, &s))
			state[path] = fmt.Sprintf("mode %o, changed at %v and %v, %d bytes, sha256 %x", s.Mode,
				s.Mtim, s.Ctim, s.Size, sha256.Sum256(content))
			return err
		}))
	}
	return state
}

// condition returns whether the victim runs, its limits and its scheduling. Nobody waits for it
// before the end of the test, so that it is in /proc even if it is dead.
func (v *victims) condition() string {
	proc := fmt.Sprintf("/proc/%d/", v.victim.Process.Pid)
	limits := must(os.ReadFile(proc + "limits"))
	// what follows the name begins with field 3 of proc(5)
	_, after, _ := strings.Cut(string(must(os.ReadFile(proc+"stat"))), ") ")
	fields := strings.Fields(after)
	state, nice, policy := fields[0], fields[19-3], fields[41-3]
	var processors unix.CPUSet
	err := unix.SchedGetaffinity(v.victim.Process.Pid, &processors)
	return fmt.Sprintf("held %v, nice %s, policy %s, processors %d %v, limits %x",
		strings.Contains("TtZ", state), nice, policy, processors.Count(), err, sha256.Sum256(limits))
}

package sandbox_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"sync"
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
	// a secret: in files of home, in the victim's environment, in environ
	key string
	// the T of attacks.py; a test may add bomb and memory
	targets map[string]any

	endpoint sandbox.Endpoint // a server that resets connections
	reached  atomic.Int32     // how many it has reset

	report *os.File // the pipe on which guards report
	victim *exec.Cmd
	gone   chan struct{} // closed when the victim has ended
	canary *[16]byte     // what p05 tries to read
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
		key: "sk-planted-" + tag, canary: &[16]byte{}, gone: make(chan struct{}),
	}
	sum := sha256.Sum256([]byte(v.key))
	v.targets = map[string]any{
		"home": v.home, "project": v.project, "data": v.data, "run": v.run, "parent": os.Getpid(),
		"address": uintptr(unsafe.Pointer(v.canary)), "key": hex.EncodeToString(sum[:]), "tag": tag,
		"disk": disk(),
		"tmp":  "/tmp/victim-" + tag, "shm": "/dev/shm/victim-" + tag,
		"stream": base + "/docker.sock", "datagram": base + "/journal.sock", "abstract": "victim-" + tag,
		"inside": base + "/project/data/docker.sock",
	}
	for _, ns := range []string{"pid", "net", "mnt", "ipc"} {
		v.targets[ns+"ns"] = must(os.Readlink("/proc/self/ns/" + ns))
	}
	v.files(t)
	v.pipe(t)
	v.segment(t)
	v.queue(t)
	v.listen(t)
	v.start(t)
	v.before = v.state(t)
	return v
}

// disk returns the numbers of a disk of the machine, or of what would be one.
func disk() [2]int {
	numbers := [2]int{254, 0}
	disks, _ := filepath.Glob("/sys/block/*/dev")
	for _, path := range disks {
		b, _ := os.ReadFile(path)
		_, _ = fmt.Sscanf(string(b), "%d:%d", &numbers[0], &numbers[1])
	}
	return numbers
}

func (v *victims) files(t testing.TB) {
	t.Helper()
	tmp, shm := v.targets["tmp"].(string), v.targets["shm"].(string)
	content := map[string]string{
		v.home + "/.ssh/id_rsa":        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + v.key + "\n",
		v.home + "/.aws/credentials":   "[default]\naws_secret_access_key = " + v.key + "\n",
		v.home + "/.bashrc":            "# bashrc\n",
		v.home + "/.profile":           "# profile\n",
		v.run + "/notebook.ipynb":      "{}\n",
		v.project + "/notes.txt":       "notes\n",
		tmp:                            "of somebody else\n",
		shm:                            v.key + "\n",
		v.work + "/of-a-cell.txt":      "of an earlier cell\n",
		v.project + "/runs/r0/n.ipynb": "{}\n",
		v.home + "/.local/share/jupyter/runtime/kernel-1.json": `{"key":"` + v.key + `"}`,
	}
	for _, name := range []string{"a", "b", "b2", "c", "d", "e"} {
		content[v.data+"/"+name+".csv"] = "a,b\n1,2\n3,4\n"
	}
	t.Cleanup(func() {
		for _, path := range v.shared() {
			_ = os.Remove(path)
		}
	})
	for path, text := range content {
		mode := fs.FileMode(0o644)
		if strings.Contains(text, v.key) {
			mode = 0o600
		}
		ok(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), mode)))
	}
	// not every file system supports it
	_ = unix.Setxattr(v.home+"/.ssh/id_rsa", "user.origin", []byte("of somebody"), 0)
	ok(t, os.Chmod(v.home+"/.ssh", 0o700))
}

// pipe creates the pipe of guards, whose reports are printed.
func (v *victims) pipe(t testing.TB) {
	t.Helper()
	read, write, err := os.Pipe()
	ok(t, err)
	v.targets["report"] = must(os.Readlink(fmt.Sprintf("/proc/self/fd/%d", write.Fd())))
	v.report = write
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
}

// segment creates shared memory of System V, which is not a file.
func (v *victims) segment(t testing.TB) {
	t.Helper()
	key := int(rand.Int32N(1<<30)) + 1
	id := must(unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600))
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	v.targets["segment"] = key
}

// queue creates a POSIX message queue, if Linux has them.
func (v *victims) queue(t testing.TB) {
	t.Helper()
	name := "victim-" + v.targets["tag"].(string)
	path := must(unix.BytePtrFromString(name))
	v.targets["queue"] = name
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(path)),
		unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
	if errno != 0 {
		t.Log("no queue: ", errno)
		return
	}
	_ = unix.Close(int(fd)) // nothing was written
	t.Cleanup(func() {
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(path)), 0, 0)
	})
}

// shared returns the files in folders that all processes share: those of v, and those that attacks
// create beside them.
func (v *victims) shared() []string {
	var paths []string
	for _, target := range []string{"tmp", "shm"} {
		path := v.targets[target].(string)
		paths = append(paths, path, strings.Replace(path, "victim-", "attack-", 1))
	}
	return paths
}

// listen creates sockets. Connections need not be accepted, and only packets over UDP are answered.
func (v *victims) listen(t testing.TB) {
	t.Helper()
	packets := func(network, address string) net.PacketConn {
		c := must(net.ListenPacket(network, address))
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	v.targets["tcp"] = listen(t, "tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	listen(t, "unix", v.targets["stream"].(string))
	listen(t, "unix", v.targets["inside"].(string))
	listen(t, "unix", "@"+v.targets["abstract"].(string))
	packets("unixgram", v.targets["datagram"].(string))
	packets("unixgram", "@"+v.targets["abstract"].(string)+"d")
	udp := packets("udp", "127.0.0.1:0")
	v.targets["udp"] = udp.LocalAddr().(*net.UDPAddr).Port
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil { // without IPv6
		l = listen(t, "tcp", "127.0.0.1:0")
	}
	at := l.Addr().(*net.TCPAddr)
	v.endpoint = sandbox.Endpoint{Host: at.IP.String(), Port: uint16(at.Port)}
	v.targets["endpoint"] = []any{v.endpoint.Host, v.endpoint.Port}
	var serving sync.WaitGroup
	t.Cleanup(func() { _, _ = udp.Close(), l.Close(); serving.Wait() })
	serving.Go(func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			serving.Go(func() { v.reset(c.(*net.TCPConn)) })
		}
	})
	serving.Go(func() {
		for _, from, err := udp.ReadFrom(nil); err == nil; _, from, err = udp.ReadFrom(nil) {
			_, _ = udp.WriteTo([]byte("pong"), from)
		}
	})
}

// reset resets a connection once its client has sent something, or has gone, even by another way.
func (v *victims) reset(c *net.TCPConn) {
	v.reached.Add(1)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.Read(make([]byte, 1))
	_, _ = c.SetLinger(0), c.Close()
}

// start starts the victim, a shell that ignores SIGUSR1 and ends with the test, however that ends.
func (v *victims) start(t testing.TB) {
	t.Helper()
	script := `trap "" USR1; echo ready; while read -r line; do :; done`
	v.victim = exec.Command("sh", "-c", script, "victim", "--password=hunter2")
	v.victim.Env = []string{"PATH=" + os.Getenv("PATH"), "SERVICE_KEY=" + v.key}
	stdin, err := v.victim.StdinPipe()
	ok(t, err)
	started(t, v.victim)
	go func() {
		_ = v.victim.Wait()
		close(v.gone)
	}()
	t.Cleanup(func() {
		_, _ = stdin.Close(), v.victim.Process.Kill()
		<-v.gone
		for _, pid := range v.daemons() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	v.targets["victim"] = v.victim.Process.Pid
}

// environ returns the environment for dsstar, or for what stands for it: it has the secret, and
// HOME is home.
func (v *victims) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.home, "LANG=C.UTF-8",
		"OPENAI_API_KEY=" + v.key}
}

// python returns a statement that defines the dict T with the targets, for the named attempts or,
// without names, for all that need not run separately.
func (v *victims) python(only ...string) string {
	targets := maps.Clone(v.targets)
	if len(only) > 0 {
		targets["only"] = only
	}
	text, err := json.Marshal(targets)
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	return "import json\nT = json.loads(" + strconv.QuoteToASCII(string(text)) + ")\n"
}

// daemons returns the processes that p17_daemon_survives has left.
func (v *victims) daemons() []int {
	return kerneltest.With("daemon-"+v.targets["tag"].(string), "cmdline")
}

// unharmed fails the test if anything outside differs from what newVictims created.
func (v *victims) unharmed(t testing.TB) {
	t.Helper()
	for _, harm := range v.harm(t) {
		t.Errorf("harmed: %s", harm)
	}
}

func (v *victims) harm(t testing.TB) []string {
	t.Helper()
	after := v.state(t)
	var harms []string
	for _, what := range slices.Sorted(maps.Keys(v.before)) {
		if after[what] != v.before[what] {
			harms = append(harms, fmt.Sprintf("%s was %q, is %q", what, v.before[what], after[what]))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(after)) {
		if _, known := v.before[what]; !known {
			harms = append(harms, what+" is new")
		}
	}
	return harms
}

// state returns what attacks could change: the files outside, except those that cells can write,
// and the victim.
func (v *victims) state(t testing.TB) map[string]string {
	t.Helper()
	state := map[string]string{"victim": v.condition()}
	for _, top := range append(v.shared(), v.home, v.project) {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case path == v.work:
				return filepath.SkipDir
			}
			state[path], err = look(path)
			return err
		})
		ok(t, err)
	}
	return state
}

// look returns the mode, time of change, attributes, flags and content of a file.
func look(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	names := make([]byte, 1024)
	n, _ := unix.Llistxattr(path, names) // not every file system has any
	seen := fmt.Sprintf("%v, %s, attributes %q", info.Mode(), info.ModTime().Format(time.RFC3339Nano),
		names[:max(n, 0)])
	if !info.Mode().IsRegular() {
		return seen, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	flags, _ := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS) // not every file system has any
	content, err := io.ReadAll(f)
	return fmt.Sprintf("%s, flags %x, %d bytes, sha256 %x", seen, flags, len(content),
		sha256.Sum256(content)), err
}

// condition returns whether the victim runs, its limits and its scheduling.
func (v *victims) condition() string {
	select {
	case <-v.gone:
		return "dead"
	default:
	}
	proc := fmt.Sprintf("/proc/%d/", v.victim.Process.Pid)
	stat, err := os.ReadFile(proc + "stat")
	// what follows the name begins with field 3 of proc(5)
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	limits, err2 := os.ReadFile(proc + "limits")
	var processors unix.CPUSet
	err3 := unix.SchedGetaffinity(v.victim.Process.Pid, &processors)
	if err := errors.Join(err, err2, err3); err != nil || len(fields) < 39 {
		return "dead"
	}
	state, nice, policy := fields[0], fields[19-3], fields[41-3]
	held := slices.Contains([]string{"T", "t", "Z"}, state)
	return fmt.Sprintf("held %v, nice %s, policy %s, processors %d, limits %x", held, nice, policy,
		processors.Count(), sha256.Sum256(limits))
}

package kernel

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel/internal/zmq"
	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

var gone = kerneltest.Gone

func number(text string) int { return must(strconv.Atoi(strings.TrimSpace(text))) }

// Nothing is left of a closed kernel: no process, child, goroutine or file, and no trace of its
// cells. It is reached over TCP, as the path of a socket would be too long.
func TestNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t)
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	ok(t, os.Mkdir(long, 0o700))
	t.Setenv("TMPDIR", long)
	o := options(t)
	home := t.TempDir()
	o.Env = append(o.Env, "HOME="+home)
	k := open(t, o)
	child := number(runCell(t, k, "import subprocess\nprint(subprocess.Popen(['sleep', '60']).pid)",
		notebook.OK).Stdout())
	worker := number(runCell(t, k,
		"import multiprocessing as m, time\np = m.get_context('fork').Process(target=time.sleep, args=(60,)); p.start()\nprint(p.pid)", notebook.OK).Stdout())
	pid, dir := k.Info().PID, k.current().owner.(*local).dir
	file := filepath.Join(dir, "kernel.json")
	equal(t, "connection file", must(os.Stat(file)).Mode(), 0o600)
	equal(t, "transport", must(zmq.Read(file)).Transport, "tcp")
	equal(t, "private folder", must(os.Stat(dir)).Mode().Perm(), 0o700)
	check(t, k.Close())
	gone(t, pid)
	gone(t, child)
	gone(t, worker)
	_, err := os.Stat(dir)
	fails(t, err, fs.ErrNotExist)
	_ = filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.Contains(e.Name(), "history") {
			t.Errorf("history was written: %s", path)
		}
		return nil
	})
}

// A death is noticed at once, whoever causes it, and a crash leaves its last words. A kernel that
// closes its connections is useless: it is killed for that reason.
func TestReasonOfDeath(t *testing.T) {
	t.Parallel()
	k := open(t, options(t))
	// What is printed must have arrived before the kernel dies: libzmq sends it from a thread.
	arrived := filepath.Join(t.TempDir(), "arrived")
	wait := fmt.Sprintf("import os, time\nprint('kept', flush=True)\n"+
		"while not os.path.exists(%q): time.sleep(0.01)\n", arrived)
	for i, c := range []struct{ code, want string }{
		// the child holds the kernel's sockets and stderr open
		{"if os.fork() == 0: time.sleep(5); os._exit(0)\nos.kill(os.getpid(), 9)",
			"killed by signal 9 (SIGKILL)"},
		{"import ctypes; ctypes.string_at(0)", "killed by signal 11 (SIGSEGV)"},
		{"import gc, zmq\nfor s in gc.get_objects():\n if isinstance(s, zmq.Socket): s.close(0)\n" +
			"time.sleep(60)", "it closed its connections"},
	} {
		_ = os.Remove(arrived)
		x, err := k.ExecuteCell(t.Context(), Cell{Code: wait + c.code, Observe: func(notebook.Output) {
			_ = os.WriteFile(arrived, nil, 0o600)
		}})
		if err != nil || x.Status != notebook.Died || x.Stdout() != "kept\n" ||
			!strings.HasPrefix(x.Reason, "the kernel died: "+c.want) || strings.Contains(x.Reason, "\n") {
			t.Errorf("%v %s, reason %q, want %q; stdout %q", err, x.Status, x.Reason, c.want, x.Stdout())
		}
		if i < 2 {
			ok(t, k.Reset(t.Context()))
		}
	}
}

// stuck is a sandbox whose guard says why it kills the kernel, and then takes too long.
type stuck struct{ words string }

func (stuck) Confines() bool          { return true }
func (stuck) Reach() (tcp, unix bool) { return true, true }
func (stuck) Seal() string            { return "" }
func (s stuck) Command(cmd *exec.Cmd, _ Confined) (*exec.Cmd, error) {
	script := `trap "" TERM; w="$1"; shift; "$@" 3>&-; echo "$w" >&3; sleep 60`
	guarded := exec.Command("/bin/sh", append([]string{"-c", script, "sh", s.words}, cmd.Args...)...)
	guarded.Dir, guarded.Env = cmd.Dir, cmd.Env
	return guarded, nil
}

// If the kernel cannot be killed, the guard's reason for trying remains the reason, and a time-out does
// not say that it was killed.
func TestCannotBeKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault       kerneltest.Fault
		words, code string
		status      notebook.Status
		want        string
	}{
		{kerneltest.None, "9 GB of memory used", "die", notebook.Died, "9 GB of memory used"},
		{kerneltest.None, "", "die", notebook.Died, "it closed its connections"},
		{kerneltest.Deaf, "", "sleep", notebook.TimedOut, "could not be"},
	} {
		o := faulty(t, c.fault)
		o.Sandbox, o.CellTimeout, o.waits.kill = stuck{c.words}, 2*time.Second, 100*time.Millisecond
		k := open(t, o)
		x := runCell(t, k, c.code, c.status)
		_ = syscall.Kill(-k.Info().PID, syscall.SIGKILL) // the guard
		if !strings.Contains(x.Reason, c.want) {
			t.Errorf("reason %q, want %q", x.Reason, c.want)
		}
	}
}

// The kernel does not outlive a program that is killed.
func TestDiesWithParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a kernel has to watch its parent, as ipykernel does")
	}
	cmd := exec.Command(os.Args[0], "start-kernel-and-wait")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // a killed process leaves its files
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	ok(t, err)
	pid, _, _ := strings.Cut(line, " ")
	ok(t, cmd.Process.Kill())
	_ = cmd.Wait()
	gone(t, number(pid))
}

func TestStartErrors(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "venv")
	for name, c := range map[string]struct {
		spec Spec
		want string
		is   error
	}{
		"no argv": {Spec{Name: "x"}, "start kernel x: the kernelspec has no argv", nil},
		"no program": {Spec{Name: "x", Argv: []string{"no-such-program"}},
			`start kernel x: exec: "no-such-program"`, exec.ErrNotFound},
		"no file": {Spec{Name: "x", Argv: []string{bare + "/bin/python"}}, "no such file",
			fs.ErrNotExist},
		"a folder": {Spec{Name: "x", Argv: []string{"/tmp"}}, "is a directory", syscall.EISDIR},
		"ends": {Spec{Name: "x",
			Argv: []string{"sh", "-c", "echo a line >&2; echo the reason >&2; exit 7"}},
			"exit status 7; its stderr ends with:\na line\nthe reason", nil},
		"killed": {Spec{Name: "x", Argv: []string{"sh", "-c", "kill -9 $$"}},
			"the kernel ended before it was ready: killed by signal 9 (SIGKILL)", nil},
		"no kernel": {PythonSpec("/usr/bin/env"), "its stderr ends with:", nil},
		"no ipykernel": {Spec{Name: "x", // without site-packages
			Argv: []string{testPython(t), "-S", "-I", "-m", "ipykernel_launcher", "{connection_file}"}},
			"No module named ipykernel_launcher", nil},
		"provisioner": {Spec{Name: "x", Argv: []string{"sh"},
			Metadata: map[string]any{"kernel_provisioner": map[string]any{"provisioner_name": "yarn"}}},
			"kernel provisioner yarn", nil},
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			_, err := Start(t.Context(), Options{Spec: c.spec, Env: os.Environ()})
			fails(t, err, c.want, c.is)
		})
	}
}

// A kernel is started as its options say, also after a Reset that failed. What runs silently is not
// counted, a kernel with interrupt mode "message" gets a request, not a signal, and what processes
// print is output of their cell and not late, however slowly it is read.
func TestOptions(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Spec.Env = map[string]string{"GREETING": "hello ${WHOM}, ${NOBODY}"}
	o.Env = append(o.Env, "WHOM=world")
	o.Spec.InterruptMode, o.CellTimeout = "message", 5*time.Second
	o.Scratch = filepath.Join(o.Dir, "made", "here")
	o.Prelude = "import sys\nsys.modules['a_number'] = 6\nraise ValueError"
	k := open(t, o)
	must(os.Stat(o.Scratch)) // it was made
	info := k.Info()
	if info.Name != "python3" || info.Implementation != "ipython" ||
		info.Language["name"] != "python" || info.PID == 0 {
		t.Errorf("%+v", info)
	}
	k.options.Spec = Spec{Name: "x", Argv: []string{"no-such-program"}}
	fails(t, k.Reset(t.Context()), exec.ErrNotFound)
	equal(t, "alive", k.Alive(), false)
	runCell(t, k, "1", notebook.Died)
	k.options.Spec = o.Spec
	ok(t, k.Reset(t.Context()))
	x, err := k.Silently(t.Context(), "print(__import__('a_number'))", time.Minute)
	if err != nil || x.Stdout() != "6\n" {
		t.Errorf("%+v, %v", x, err)
	}
	x = runCell(t, k, "import os, time\nprint(os.environ['GREETING'], os.getcwd())", notebook.OK)
	if want := "hello world, ${NOBODY} " + o.Dir + "\n"; x.Stdout() != want || x.Count != 1 {
		t.Errorf("stdout %q, want %q; count %d", x.Stdout(), want, x.Count)
	}
	stops, err := k.ExecuteCell(t.Context(), Cell{Code: "time.sleep(60)", Timeout: time.Second / 2})
	if err != nil || stops.Status != notebook.TimedOut {
		t.Errorf("%+v, %v", stops, err)
	}
	runCell(t, k, `read = os.read
def slow(fd, size):
    text = read(fd, size)
    time.sleep(.1)
    return text
os.read = slow`, notebook.OK)
	for range 3 { // the first read has begun before
		stdout(t, k, "_ = os.system('echo one; echo zwölf')", "one\nzwölf\n")
	}
}

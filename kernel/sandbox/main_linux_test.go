package sandbox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// Who runs a test, in an environment variable: an ordinary user, or a program with the rights of a
// Docker container, which cannot create namespaces.
const asVariable, user, docker = "DSSTAR_TEST_AS", "user", "docker"

var ok, check, boxes = pyenvtest.OK, pyenvtest.Check, kerneltest.Boxes

func must[T any](value T, err error) T { return pyenvtest.Must(value, err) }

// TestMain is in the first thread of the process. Main is not, which can happen to programs, too.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	apart := make(chan struct{})
	go func() { defer close(apart); sandbox.Main(os.Args) }()
	<-apart
	runtime.UnlockOSThread()
	const limited = "DSSTAR_TEST_LIMITED"
	if os.Getenv(asVariable) == docker && os.Getenv(limited) == "" {
		runtime.LockOSThread()
		if err := sandbox.Dockerlike(); err != nil {
			panic(err)
		}
		panic(syscall.Exec(os.Args[0], os.Args, append(os.Environ(), limited+"=1")))
	}
	os.Exit(m.Run())
}

// again has the test run once more as each of others, and returns as whom it runs itself: an ordinary
// user need not start it again.
func again(t *testing.T, others ...string) (me []string) {
	if as := os.Getenv(asVariable); as != "" {
		return []string{as}
	}
	me = []string{""}
	for _, as := range others {
		if as == user && os.Getuid() != 0 {
			me = append(me, user)
			continue
		}
		name := t.Name()
		t.Run("as "+as, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), asVariable+"="+as)
			if as == user {
				asNobody(t, cmd)
			}
			cmd.Args = append(cmd.Args, "-test.run=^"+name+"$", "-test.v", "-test.timeout=10m")
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS: "+name+" ")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	return me
}

// asNobody makes a command of the test program run as an ordinary user, in a folder of that user.
func asNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	const nobody = 65534
	self := must(os.ReadFile(os.Args[0]))
	cmd.Dir = outside(t, nil)
	cmd.Path = filepath.Join(cmd.Dir, "sandbox.test")
	pyenvtest.WriteProgram(t, cmd.Path, self)
	ok(t, os.Chown(cmd.Dir, nobody, nobody))
	cmd.Env = append(cmd.Env, "PATH=/usr/bin:/bin", "HOME="+cmd.Dir, "TMPDIR="+cmd.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// userPython returns the user's own Python.
func userPython(t testing.TB) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	return python
}

// boxIn returns a box of a tier that reads data, or skips the test if the tier does not work.
func boxIn(t testing.TB, tier sandbox.Tier, data string) sandbox.Box {
	t.Helper()
	if err := kerneltest.Works(t, string(tier)); err != nil {
		t.Skip(err)
	}
	return kerneltest.Box(tier, data)
}

// outside creates a folder with files that no box shows by itself; those whose content begins with
// #! are programs.
func outside(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := must(os.MkdirTemp("/var/tmp", "dsl-"))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	write(t, dir, files)
	return dir
}

// write creates files in a folder; DIR in their content is its name.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path, mode := filepath.Join(dir, name), os.FileMode(0o600)
		if strings.HasPrefix(content, "#!") {
			mode = 0o700
		}
		content = strings.ReplaceAll(content, "DIR", dir)
		ok(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(content), mode)))
	}
}

// session returns a session with its own private folder that writes to the folders.
func session(t testing.TB, folders ...string) sandbox.Session {
	return sandbox.Session{Private: t.TempDir(), Write: folders}
}

// command is box.Command, which must succeed.
func command(t testing.TB, box sandbox.Box, s sandbox.Session, dir string, env []string,
	args ...string) *exec.Cmd {
	t.Helper()
	cmd, err := box.Command(&exec.Cmd{Path: args[0], Args: args, Dir: dir, Env: env}, s)
	ok(t, err)
	return cmd
}

// commandIn returns a command in a box, in its own folder, which it can write.
func commandIn(t testing.TB, box sandbox.Box, env []string, args ...string) *exec.Cmd {
	t.Helper()
	work := t.TempDir()
	return command(t, box, session(t, work), work, env, args...)
}

// said runs a command in a box, in its own folder, and returns what it prints.
func said(t testing.TB, box sandbox.Box, env []string, args ...string) string {
	t.Helper()
	return run(commandIn(t, box, env, args...))
}

// run runs a box's guard, which is ended after a while, and returns what it and the program print.
func run(cmd *exec.Cmd) string {
	var words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &words, &words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second // without a sandbox, a daemon may hold the output
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	stop := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop.Stop()
	_ = cmd.Wait() // its output says how it ended
	return words.String()
}

// started starts a command and waits for its first line.
func started(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	out := must(cmd.StdoutPipe())
	ok(t, cmd.Start())
	_, err := bufio.NewReader(out).ReadString('\n')
	ok(t, err)
}

// outputOf runs a program outside of all boxes.
func outputOf(t testing.TB, args ...string) string {
	t.Helper()
	return strings.TrimSpace(string(must(exec.Command(args[0], args[1:]...).Output())))
}

// withStage changes the stage of a command of a box: the newest version of Landlock's interface to use
// (ABI), the sockets to mask.
func withStage(t *testing.T, cmd *exec.Cmd, name string, value any) {
	t.Helper()
	var st map[string]any
	ok(t, json.Unmarshal(must(os.ReadFile(cmd.Args[2])), &st))
	st[name] = value
	ok(t, os.WriteFile(cmd.Args[2], must(json.Marshal(st)), 0o600))
}

// folders makes folders.
func folders(t testing.TB, paths ...string) {
	t.Helper()
	for _, path := range paths {
		ok(t, os.MkdirAll(path, 0o755))
	}
}

// serve has talk serve each connection until the test ends, and returns the port, if there is one.
func serve(t testing.TB, l net.Listener, talk func(net.Conn)) uint16 {
	t.Helper()
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go talk(c)
		}
	}()
	at, _ := netip.ParseAddrPort(l.Addr().String())
	return at.Port()
}

// listen listens until the test ends.
func listen(t testing.TB, network, address string) net.Listener {
	t.Helper()
	l := must(net.Listen(network, address))
	t.Cleanup(func() { _ = l.Close() })
	return l
}

package sandbox_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/kernel/sandbox"
)

// inDocker is the argument with which the test program gives itself the rights of a Docker
// container, which cannot create namespaces, and runs [TestInDocker] again.
const inDocker = "in-docker"

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if len(os.Args) == 2 && os.Args[1] == inDocker {
		runtime.LockOSThread()
		if err := sandbox.Dockerlike(); err != nil {
			panic(err)
		}
		panic(syscall.Exec(os.Args[0], []string{os.Args[0], "-test.run=^TestInDocker$", "-test.v"},
			append(os.Environ(), inDocker+"=1")))
	}
	os.Exit(m.Run())
}

// In a container, auto falls back to builtin, says why, and confines.
func TestInDocker(t *testing.T) {
	if os.Getenv(inDocker) == "" {
		out, err := exec.CommandContext(t.Context(), os.Args[0], inDocker).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: TestInDocker ")) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	tier, why, err := sandbox.Choose("auto")
	if err != nil || tier != sandbox.Builtin || why == "" {
		t.Fatalf("auto is %s: %s, %v", tier, why, err)
	}
	v := newVictims(t)
	v.attackIn(t, sandbox.Box{Tier: tier, Read: []string{v.data},
		Limits: sandbox.Limits{Memory: 2 << 30, Processes: 256, File: 2 << 30, Folder: 4 << 30}}, 0)
	v.unharmed(t)
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

// boxes returns a box that reads data for each tier that works here; in CI all must.
func boxes(t testing.TB, data string) (all []sandbox.Box) {
	t.Helper()
	for _, name := range []string{"builtin", "full"} {
		tier, _, err := sandbox.Choose(name)
		switch {
		case err == nil:
			all = append(all, sandbox.Box{
				Tier: tier, Read: []string{data},
				Limits: sandbox.Limits{Memory: 2 << 30, Processes: 256, File: 2 << 30, Folder: 4 << 30},
			})
		case required(name):
			t.Fatal(err)
		default:
			t.Log(err)
		}
	}
	return all
}

// required reports whether a tier must work, as in CI.
func required(tier string) bool {
	return tier == "full" && os.Getenv("DSSTAR_FULL") == "required" || tier != "full" &&
		os.Getenv("CI") != ""
}

// plainBoxes returns boxes that read an empty folder.
func plainBoxes(t testing.TB) []sandbox.Box { return boxes(t, t.TempDir()) }

// outside creates a folder with files that no box shows by itself; those whose content begins with
// #! are programs.
func outside(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "dsl-")
	if err != nil {
		t.Fatal(err)
	}
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
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(content), mode)); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

// commandIn returns a command in a box, and its own folder, which it can write.
func commandIn(t testing.TB, box sandbox.Box, args ...string) (cmd *exec.Cmd, work string) {
	t.Helper()
	work = t.TempDir()
	return command(t, box, session(t, work), work, os.Environ(), args...), work
}

// said runs a command in a box, in its own folder, and returns what it prints.
func said(t testing.TB, box sandbox.Box, env []string, args ...string) string {
	t.Helper()
	work := t.TempDir()
	return run(command(t, box, session(t, work), work, env, args...))
}

// run runs a box's guard, which is ended after a while, and returns what it and the program print.
func run(cmd *exec.Cmd) string {
	var words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &words, &words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
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
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
}

// outputOf runs a program outside of all boxes.
func outputOf(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// childOf returns a child of a process, 0 if it has none.
func childOf(pid int) (child int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && len(b) > 0 {
			_, _ = fmt.Sscan(string(b), &child)
		}
	}
	return child
}

package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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

// inDocker is the argument with which the test program tries the sandbox with the rights of a
// Docker container, which cannot create namespaces.
const inDocker = "in-docker"

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if len(os.Args) == 2 && os.Args[1] == inDocker {
		runtime.LockOSThread()
		if err := tryInDocker(); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type dockerTrial struct {
	Tier   sandbox.Tier
	Why    string
	Trials []sandbox.Trial
}

func tryInDocker() (err error) {
	if err := sandbox.Dockerlike(); err != nil {
		return err
	}
	var d dockerTrial
	if d.Tier, d.Why, err = sandbox.Choose("auto"); err != nil {
		return err
	}
	if d.Trials, err = sandbox.Try(context.Background(), d.Tier); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(d)
}

// In a container, auto falls back to builtin, says why, and confines.
func TestInDocker(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], inDocker)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var d dockerTrial
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	if d.Tier != sandbox.Builtin || d.Why == "" {
		t.Errorf("auto is %s: %s", d.Tier, d.Why)
	}
	t.Log(d.Why)
	open := 0 // without a sandbox; a container refuses the rest
	for _, trial := range d.Trials {
		if trial.Done[d.Tier] != (trial.Name == sandbox.Seen) {
			t.Errorf("%s: can be done: %v", trial.Name, trial.Done[d.Tier])
		}
		if trial.Done[sandbox.Off] {
			open++
		}
	}
	if open < 10 {
		t.Errorf("only %d of %d can be done without a sandbox", open, len(d.Trials))
	}
}

// What doctor tries is blocked in every tier that works here, and works without a sandbox.
func TestTry(t *testing.T) {
	trials, err := sandbox.Try(t.Context(), sandbox.Tiers()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		for tier, done := range trial.Done {
			if tier != sandbox.Off && done != (tier == sandbox.Builtin && trial.Name == sandbox.Seen) {
				t.Errorf("%s in %s: can be done: %v", trial.Name, tier, done)
			}
		}
		if !trial.Done[sandbox.Off] {
			t.Logf("%s: cannot be done here without a sandbox either", trial.Name)
		}
	}
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
				Tier: tier, Bubblewrap: tier == sandbox.Full && *withBubblewrap, Read: []string{data},
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
	return tier == "full" && os.Getenv("DSSTAR_BUBBLEWRAP") == "required" || tier != "full" &&
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

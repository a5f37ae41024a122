//go:build unix

package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/kernel/internal/process"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// killLeft kills a kernel that was left running, and waits for its end.
func killLeft(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Errorf("the kernel is gone: %v", err)
	}
	for begun := time.Now(); process.Exists(pid); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("kill does not end the kernel")
		}
	}
}

// TestLeave: a kernel that was left outlives the program that started it, with
// its variables, and can be found and connected to.
func TestLeave(t *testing.T) {
	t.Parallel()
	runtime := filepath.Join(t.TempDir(), "runtime") // created when needed
	out, err := exec.Command(os.Args[0], "leave-a-kernel", testPython(t), runtime).Output()
	var pid int
	var file, said string
	if _, e := fmt.Sscan(string(out), &pid, &file, &said); err != nil || e != nil || said != "<nil>" {
		t.Fatalf("%v %v: %s", err, e, out)
	}
	defer killLeft(t, pid)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	found := Discover(t.Context(), Lookup{Getenv: func(name string) string {
		return map[string]string{"JUPYTER_RUNTIME_DIR": runtime}[name]
	}})
	if len(found.Kernels) != 1 || found.Kernels[0].Notebook != "/work/notebook.ipynb" ||
		found.Kernels[0].State != "idle" {
		t.Fatalf("%+v", found)
	}
	k, err := Attach(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	// Its standard error must not be a broken pipe.
	x := runCell(t, k, "import os; os.write(2, b'words'); print(kept, 'JPY_PARENT_PID' in os.environ)",
		notebook.OK)
	if x.Stdout() != "[1] False\n" {
		t.Error(x.Stdout())
	}
}

// TestLeaveOrClose: Close and Reset end a kernel that could be left and remove its files; a dead
// kernel cannot be left.
func TestLeaveOrClose(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	o := options(t)
	o.KeepIn = runtime
	files := func() int {
		all, err := os.ReadDir(runtime)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	k := open(t, o)
	first := k.Info()
	if err := k.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k.Info().ID == first.ID || process.Exists(first.PID) || files() != 1 {
		t.Errorf("%+v after %+v, %d files", k.Info(), first, files())
	}
	if x := runCell(t, k, "import os, sys, time; os.write(2, b'last words'); time.sleep(0.5); os._exit(3)", notebook.Died); !strings.Contains(x.Reason, "last words") {
		t.Error(x.Reason)
	}
	if err := k.Leave(""); err == nil || !strings.Contains(err.Error(), "the kernel has ended") ||
		files() != 0 {
		t.Errorf("%v, %d files", err, files())
	}
	if _, err := k.Execute(t.Context(), "1"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}

	k = open(t, o)
	pid := k.Info().PID
	if err := k.Close(); err != nil || files() != 0 || process.Exists(pid) {
		t.Errorf("%v, %d files", err, files())
	}
	k = open(t, options(t)) // not for keeping
	pid = k.Info().PID
	if err := k.Leave(""); err == nil || process.Exists(pid) {
		t.Error(err)
	}
}

// TestLeaveOnServer: a kernel left on a server belongs to its notebook.
func TestLeaveOnServer(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	server := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
	s := Server{URL: server.URL + "/", Token: server.Token, Root: server.Root}
	k, err := Dial(t.Context(), s, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	runCell(t, k, "kept = [1]", notebook.OK)
	id := k.Info().ID
	if err := k.Leave(""); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(server.Root, "runs and more", "notebook.ipynb")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{s.Root, ""} { // a server with a known address only
		s.Root = root
		path, err := s.Path(t.Context(), file)
		if err != nil || path != "runs and more/notebook.ipynb" {
			t.Fatalf("root %q: %q %v", root, path, err)
		}
		if other, err := s.Register(t.Context(), path, id); err != nil || other != id {
			t.Fatal(other, err)
		}
	}
	var sessions []struct {
		Path   string
		Kernel struct{ ID string }
	}
	server.Call(t, "GET", "/api/sessions", nil, &sessions)
	if len(sessions) != 1 || sessions[0].Path != "runs and more/notebook.ipynb" ||
		sessions[0].Kernel.ID != id {
		t.Errorf("%+v", sessions)
	}
	again, err := Dial(t.Context(), s, id, Options{Discard: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if x := runCell(t, again, "print(kept)", notebook.OK); x.Stdout() != "[1]\n" {
		t.Error(x.Stdout())
	}

	outside := filepath.Join(t.TempDir(), "notebook.ipynb")
	if err := os.WriteFile(outside, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{server.Root, ""} {
		s.Root = root
		if path, err := s.Path(t.Context(), outside); err == nil {
			t.Errorf("%s is outside, not %s", outside, path)
		}
	}
	// The notebook already has a kernel, which is its user's: that stays.
	second, err := Dial(t.Context(), s, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if other, err := s.Register(t.Context(), "runs and more/notebook.ipynb",
		second.Info().ID); err != nil || other != id {
		t.Errorf("%s %v", other, err)
	}
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// TestOutside builds the program in a module of its own, as another project would, and runs it in
// kernels that it starts, joins, and reaches on a server.
func TestOutside(t *testing.T) {
	program := outside(t)
	python := pyenvtest.Python(t)
	t.Run("start", func(t *testing.T) { try(t, program, nil, "start", python) })
	t.Run("attach", func(t *testing.T) {
		runtime := t.TempDir()
		file := filepath.Join(runtime, "kernel-1.json")
		theirs := exec.Command(python, "-m", "ipykernel_launcher", "-f", file)
		if err := theirs.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = theirs.Process.Kill()
			if err := theirs.Wait(); err == nil || err.Error() != "signal: killed" {
				t.Errorf("the kernel did not live on: %v", err)
			}
		}()
		k, err := kernel.Attach(t.Context(), file, kernel.Options{})
		for err != nil && t.Context().Err() == nil {
			time.Sleep(50 * time.Millisecond) // until it has started
			k, err = kernel.Attach(t.Context(), file, kernel.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = k.Close()
		try(t, program, []string{"JUPYTER_RUNTIME_DIR=" + runtime}, "attach", kernel.Newest)
	})
	t.Run("dial", func(t *testing.T) {
		pyenvtest.Long(t)
		s := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
		try(t, program, nil, "dial", s.URL+"/?token="+s.Token)
	})
}

// outside returns the program, built in another module.
func outside(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "kernel/example/main.go"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		text := string(content)
		if name == "go.mod" { // with the same requirements, which are there
			text = strings.Replace(text, "module dsstar\n", "module outside\n", 1) +
				fmt.Sprintf("\nrequire dsstar v0.0.0\n\nreplace dsstar => %q\n", root)
		}
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text),
			0o644)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", "example", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "example")
}

// try runs a cell, and interrupts another when its first output is there.
func try(t *testing.T, program string, env []string, args ...string) {
	t.Helper()
	// Python can miss a signal that comes just before a system call, so the cell makes many.
	const endless = "import time\nprint('asleep', flush=True)\nwhile True: time.sleep(.1)"
	for code, want := range map[string]string{"print(6 * 7)": "ok", endless: "error"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, append(args, code)...)
		cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(stdout)
		first, err := lines.ReadString('\n')
		if first == "asleep\n" {
			err = errors.Join(err, cmd.Process.Signal(os.Interrupt))
		} else if first != "42\n" {
			t.Errorf("%q", first)
		}
		rest, err2 := io.ReadAll(lines)
		if err := errors.Join(err, err2, cmd.Wait()); err != nil {
			t.Error(err)
		}
		if text := strings.TrimSpace(string(rest)); !strings.HasSuffix(text, want) ||
			strings.Contains(text, "KeyboardInterrupt") != (want == "error") {
			t.Errorf("%q, want %s", text, want)
		}
	}
}

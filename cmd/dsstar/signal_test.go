//go:build unix

package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// asProgram makes the test binary the program itself.
const (
	asProgram      = "DSSTAR_TEST_AS_PROGRAM"
	descriptionsIn = "DSSTAR_TEST_DESCRIPTIONS" // the folder of its descriptions, instead of the user's
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if os.Getenv(asProgram) != "" {
		a := newApp()
		if dir := os.Getenv(descriptionsIn); dir != "" {
			a.descriptionDir = dir
		}
		os.Exit(a.main())
	}
	// Runs wait more than they compute.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)); err != nil {
		panic(err) // the testing package has renamed its flag
	}
	code := plantedMain(m)
	if finished.folder != "" {
		_ = os.RemoveAll(finished.folder)
	}
	os.Exit(code)
}

// program starts dsstar as a process of its own, whose children can be told by
// the mark in their environment.
func program(t *testing.T, args ...string) (cmd *exec.Cmd, mark string, stderr *bytes.Buffer) {
	t.Helper()
	mark = "DSSTAR_TEST_MARK=" + t.TempDir()
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(cleanEnv(), asProgram+"=1", mark, "DSSTAR_ALLOW_ENV=DSSTAR_TEST_MARK")
	stderr = &bytes.Buffer{}
	cmd.Stderr = stderr
	watchForKey(t, stderr)
	t.Cleanup(keepData(t, args))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, mark, stderr
}

// exitCode waits for the program to end.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
		return cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatal("the program does not end")
		return 0
	}
}

// noProcess fails if a process with the mark is left after a moment's grace.
func noProcess(t *testing.T, mark string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left = nil
		all, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range all {
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(mark)) {
				cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				left = append(left, strings.ReplaceAll(string(cmdline), "\x00", " "))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes are left: %q", left)
		}
	}
}

// TestInterrupt sends Ctrl-C at moments all over a run of the demo, told by what
// its notebook holds: it always ends in 130, with a valid notebook and nothing
// left behind.
func TestInterrupt(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	python := pyenvtest.Python(t)
	for _, moment := range []struct{ name, holds string }{
		{"at the start", ""},
		{"describing", "fourteen stations"},
		{"in the first round", `"id": "round-1"`},
		{"repairing a cell", "KeyError"},
		{"going back", "Step 3 is wrong"},
		{"proving", `"id": "final"`},
	} {
		t.Run(moment.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "run")
			cmd, mark, stderr := program(t, "demo", "--out", out, "--python", python)
			waitFor(t, moment.name, func() bool {
				b, err := os.ReadFile(filepath.Join(out, "notebook.ipynb"))
				return err == nil && strings.Contains(strings.ToLower(string(b)), strings.ToLower(moment.holds))
			})
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if code := exitCode(t, cmd); code != exitInterrupted || !strings.Contains(stderr.String(), "dsstar: interrupted") {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
			noProcess(t, mark)
			if tr := readRun(t, out); tr.Failure == "" || tr.Verified() {
				t.Errorf("the notebook does not say that the run was stopped: %q", tr.Failure)
			}
			validate(t, filepath.Join(out, "notebook.ipynb"))
		})
	}
}

// TestInterruptDuringCell: a cell that ignores the interrupt goes too, with
// the process that it started.
func TestInterruptDuringCell(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	m := counting()
	m["coder"] = say(cell(`import subprocess, time
child = subprocess.Popen(["sleep", "600"])
open(` + "r'" + started + "'" + `, "w").close()
while True:
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        pass`))
	out := filepath.Join(t.TempDir(), "run")
	cmd, mark, stderr := program(t, "nb", "--data", dataFolder(t, numbers), "--out", out, "--base-url", m.serve(t).URL,
		"--model", "scripted", "--python", pyenvtest.Python(t), "--allow-write", filepath.Dir(started), "What is the total?")
	waitFor(t, "the cell's start", func() bool {
		_, err := os.Stat(started)
		return err == nil
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd); code != exitInterrupted {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	noProcess(t, mark)
	if tr := readRun(t, out); len(tr.Rounds) != 1 || tr.Failure == "" {
		t.Errorf("%d rounds, failure %q", len(tr.Rounds), tr.Failure)
	}
}

// TestKilled: even kill -9 leaves no kernel and a valid notebook.
func TestKilled(t *testing.T) {
	t.Parallel()
	m := counting()
	m["planner"] = []llmtest.Response{{Stall: true}}
	out := filepath.Join(t.TempDir(), "run")
	cmd, mark, _ := program(t, "nb", "--data", dataFolder(t, numbers), "--out", out, "--base-url", m.serve(t).URL,
		"--model", "scripted", "--python", pyenvtest.Python(t), "What is the total?")
	waitFor(t, "the description of the file", func() bool {
		b, err := os.ReadFile(filepath.Join(out, "notebook.ipynb"))
		return err == nil && strings.Contains(string(b), `n\n1\n2\n39`)
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	exitCode(t, cmd)
	noProcess(t, mark)
	readRun(t, out)
}

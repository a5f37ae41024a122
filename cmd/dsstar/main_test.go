package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/sandbox"
)

// asProgram makes the test binary run as the program.
const asProgram = "DSSTAR_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if os.Getenv(asProgram) != "" {
		a := newApp()
		if at := os.Getenv(warmAt); at != "" {
			a.host.Cells = warmed(at)
		}
		if os.Getenv("DSSTAR_TEST_TTY") != "" {
			a.stdinTTY, a.stderrTTY = true, true
		}
		os.Exit(a.main())
	}
	// Runs spend more time waiting than computing.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the testing package has renamed its flag
	}
	config, err := os.MkdirTemp("", "dsstar-config-") // nothing is read or made in the real one
	if err := errors.Join(err, configFolder(filepath.Join(config, "dsstar")), os.Setenv("XDG_CONFIG_HOME", config)); err != nil {
		panic(err)
	}
	code := plantedMain(m)
	if warm.stop != nil {
		warm.stop()
	}
	_ = os.RemoveAll(config)
	if finished.folder != "" {
		_ = os.RemoveAll(finished.folder)
	}
	os.Exit(code)
}

// asDsstar returns a command that runs the program.
func asDsstar(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(cleanEnv(), asProgram+"=1")
	return cmd
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
func noProcess(t testing.TB, mark string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left = nil
		for _, pid := range kerneltest.With(mark, "environ") {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			left = append(left, strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes are left: %q", left)
		}
	}
}

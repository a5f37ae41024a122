// Package pyenvtest gives tests a Python that is ready to run cells: the environment that dsstar
// itself uses, shared by all tests and created once per machine.
package pyenvtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"dsstar/configs"
	"dsstar/kernel/pyenv"
)

// Python returns an interpreter with ipykernel, pandas and the rest of the lock file.
// $DSSTAR_TEST_PYTHON overrides it.
func Python(t testing.TB) string {
	t.Helper()
	if python := os.Getenv("DSSTAR_TEST_PYTHON"); python != "" {
		return python
	}
	return ensure(t, configs.PythonLock)
}

// Tools returns an interpreter in another environment, which also has the packages of
// configs/python-test.in: the real Jupyter tools and servers.
func Tools(t testing.TB) string {
	t.Helper()
	return ensure(t, slices.Concat(configs.PythonLock, configs.TestLock))
}

// Lab returns an interpreter in another environment, with the packages of configs/python-lab.in:
// JupyterLab, a browser driver and reviewers' tools. It has no pandas: its kernels are those of
// [Python].
func Lab(t testing.TB) string {
	t.Helper()
	return ensure(t, configs.LabLock)
}

// OldPython returns an interpreter with only the last ipykernel 6, and numpy and pandas in the
// versions that [Python] has.
func OldPython(t testing.TB) string {
	t.Helper()
	return ensure(t, configs.OldKernelLock)
}

func ensure(t testing.TB, lock []byte) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	python, err := pyenv.Ensure(context.Background(), pyenv.Options{
		Dir:      filepath.Join(cache, "dsstar"),
		Lock:     lock,
		Env:      os.Environ(),
		Progress: func(line string) { t.Log(line) },
	})
	if err != nil {
		t.Fatalf("tests need Python: %v\nDSSTAR_TEST_PYTHON can name one that has the packages of "+
			"configs/python.in", err)
	}
	return python
}

// OK ends a test that cannot go on: what it needs has failed.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Check reports an error; the test goes on.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Must returns what a test needs, such as a folder.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Long skips a test that takes too long for go test ./... on a laptop: random sessions, servers,
// browsers, kills. DSSTAR_LONG=1 runs them all; CI names some of them.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("DSSTAR_LONG") == "" {
		t.Skip("a long test: set DSSTAR_LONG=1 to run it")
	}
}

// WriteProgram writes a file that a test executes. A child process forked while the file is open
// for writing holds it open until its own exec, and executing the file fails until then with "text
// file busy" (golang.org/issue/22315): no process is forked meanwhile.
func WriteProgram(t testing.TB, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

// Package pyenvtest gives tests a Python that is ready to run cells. It is the very environment
// that dsstar uses, shared by all tests and made once per machine.
package pyenvtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
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

// Tools returns an interpreter that also has the packages of configs/python-test.in, the real
// Jupyter tools and servers, in an environment of its own.
func Tools(t testing.TB) string {
	t.Helper()
	return ensure(t, slices.Concat(configs.PythonLock, configs.TestLock))
}

// Lab returns an interpreter with the packages of configs/python-lab.in, JupyterLab, a driver for a
// browser and reviewers' tools, in an environment of its own, which has no pandas: the kernels are
// those of [Python].
func Lab(t testing.TB) string {
	t.Helper()
	return ensure(t, configs.LabLock)
}

// OldPython returns an interpreter with the last ipykernel 6, and besides it only numpy and pandas,
// of the versions that Python has.
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

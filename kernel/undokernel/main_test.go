package undokernel_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/rewind"
	"dsstar/kernel/sandbox"
)

var testTier = flag.String("tier", "",
	"run every kernel in this tier of the sandbox; \"\": a few in builtin, the others in none")

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	kerneltest.VerifyMain(m)
}

// testPython returns a Python interpreter that has ipykernel, pandas and numpy.
func testPython(t testing.TB) string { return pyenvtest.Python(t) }

// checkpointSpec returns the spec of a kernel with checkpoints that uses python.
func checkpointSpec(t testing.TB, python string) kernel.Spec {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	cache := must(os.UserCacheDir())
	spec, err := rewind.Spec(kernel.PythonSpec(python),
		filepath.Join(cache, "dsstar", "test-kernels"))
	ok(t, err)
	return spec
}

// openCheckpoints opens a kernel with checkpoints.
func openCheckpoints(t testing.TB, python string, env ...string) *kernel.Kernel {
	t.Helper()
	dir := t.TempDir()
	return open(t, kernel.Options{
		Spec: checkpointSpec(t, python), Dir: dir, Scratch: dir, Env: append(os.Environ(), env...),
		CellTimeout: time.Minute,
	})
}

// open starts a kernel. The end of the test closes it.
func open(t testing.TB, o kernel.Options) *kernel.Kernel {
	t.Helper()
	if *testTier != "" && o.Sandbox == nil {
		o.Sandbox = kerneltest.Confine(t, *testTier, o.Dir)
	}
	k, err := kernel.Start(t.Context(), o)
	ok(t, err)
	t.Cleanup(func() { check(t, k.Close()) })
	return k
}

var ok, check, runCell, prints = pyenvtest.OK, pyenvtest.Check, kerneltest.RunCell, kerneltest.Prints

func must[T any](value T, err error) T { return pyenvtest.Must(value, err) }

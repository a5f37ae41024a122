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

// options are those of a kernel with checkpoints in a folder of its own.
func options(t testing.TB, python string, env ...string) kernel.Options {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	cache := must(os.UserCacheDir())
	spec, err := rewind.Spec(kernel.PythonSpec(python),
		filepath.Join(cache, "dsstar", "test-kernels"))
	ok(t, err)
	dir := t.TempDir()
	return kernel.Options{Spec: spec, Dir: dir, Scratch: dir, Env: append(os.Environ(), env...),
		CellTimeout: time.Minute}
}

// openCheckpoints opens a kernel with checkpoints.
func openCheckpoints(t testing.TB, python string, env ...string) *kernel.Kernel {
	t.Helper()
	return open(t, options(t, python, env...))
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

var testPython, ok, check = pyenvtest.Python, pyenvtest.OK, pyenvtest.Check

var runCell, prints, gone = kerneltest.RunCell, kerneltest.Prints, kerneltest.Gone

func must[T any](value T, err error) T { return pyenvtest.Must(value, err) }

package undokernel_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel"
	goback "dsstar/kernel/checkpoint"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

var testTier = flag.String("tier", "",
	"run every kernel in this tier of the sandbox; \"\": a few in builtin, the others in none")

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	flag.Parse()
	// Tests of kernels wait more than they compute.
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)); err != nil {
		panic(err) // the testing package has renamed its flag
	}
	goleak.VerifyTestMain(m)
}

// testPython returns a Python interpreter that has ipykernel, pandas and numpy.
func testPython(t testing.TB) string { return pyenvtest.Python(t) }

// checkpointSpec returns the spec of a kernel with checkpoints that uses python.
func checkpointSpec(t testing.TB, python string) kernel.Spec {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := goback.Spec(kernel.PythonSpec(python),
		filepath.Join(cache, "dsstar", "test-kernels"))
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// runCell executes code and checks the status.
func runCell(t testing.TB, k *kernel.Kernel, code string, want notebook.Status) notebook.Execution {
	t.Helper()
	x, err := k.Execute(t.Context(), code)
	if err != nil {
		t.Fatalf("execute %q: %v", code, err)
	}
	if x.Status != want {
		t.Fatalf("execute %q: status %s, want %s (%s)\n%s", code, x.Status, want, x.Reason, x.PlainText())
	}
	return x
}

// prints evaluates an expression and checks its value.
func prints(t testing.TB, k *kernel.Kernel, expression, want string) {
	t.Helper()
	if x := runCell(t, k, "print("+expression+", end='')", notebook.OK); x.Stdout() != want {
		t.Errorf("%s is %q, want %q", expression, x.Stdout(), want)
	}
}

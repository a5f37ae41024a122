package kernel

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if kerneltest.Main(os.Args) {
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "start-kernel-and-wait" {
		k, err := Start(context.Background(), Options{Spec: PythonSpec(os.Args[2]), Env: os.Environ()})
		fmt.Println(k.Info().PID, err)
		time.Sleep(time.Minute)
		return
	}
	// Tests of kernels wait more than they compute.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)); err != nil {
		panic(err) // the testing package has renamed its flag
	}
	goleak.VerifyTestMain(m)
}

// options returns options for a Python kernel in fresh folders.
func options(t testing.TB) Options {
	dir := t.TempDir()
	return Options{Spec: PythonSpec(testPython(t)), Dir: dir, Scratch: dir, Env: os.Environ()}
}

// open starts a kernel. The end of the test closes it.
func open(t testing.TB, o Options) *Kernel { return openWith(t, o, defaultWaits()) }

func openWith(t testing.TB, o Options, w waits) *Kernel {
	t.Helper()
	k, err := start(t.Context(), o, w)
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
func runCell(t testing.TB, k *Kernel, code string, want notebook.Status) notebook.Execution {
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
func prints(t testing.TB, k *Kernel, expression, want string) {
	t.Helper()
	if x := runCell(t, k, "print("+expression+", end='')", notebook.OK); x.Stdout() != want {
		t.Errorf("%s is %q, want %q", expression, x.Stdout(), want)
	}
}

package kerneltest

import (
	"context"
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// VerifyMain runs the tests of a package and fails if they leave goroutines. More of them run at
// once than usual: tests of kernels wait more than they compute.
func VerifyMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)); err != nil {
		panic(err) // the testing package has renamed its flag
	}
	goleak.VerifyTestMain(m)
}

// An Executor runs cells.
type Executor interface {
	Execute(ctx context.Context, code string) (notebook.Execution, error)
}

// RunCell executes code and requires the status.
func RunCell(t testing.TB, k Executor, code string, want notebook.Status) notebook.Execution {
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

// Prints evaluates a Python expression and checks its value.
func Prints(t testing.TB, k Executor, expression, want string) {
	t.Helper()
	if got := RunCell(t, k, "print("+expression+", end='')", notebook.OK).Stdout(); got != want {
		t.Errorf("%s: got %v, want %v", expression, got, want)
	}
}

// Works returns why a tier of the sandbox does not work here. It ends the test if the tier must work, as
// in CI.
func Works(t testing.TB, tier string) error {
	t.Helper()
	_, _, err := sandbox.Choose(tier)
	must := os.Getenv("CI") != ""
	if tier == "full" {
		must = os.Getenv("DSSTAR_FULL") == "required"
	}
	if err != nil && must {
		t.Fatal(err)
	}
	return err
}

// Boxes returns a box that reads the folders for each tier that works here; in CI all must.
func Boxes(t testing.TB, read ...string) (all []sandbox.Box) {
	t.Helper()
	for _, tier := range []sandbox.Tier{sandbox.Builtin, sandbox.Full} {
		if Works(t, string(tier)) == nil {
			all = append(all, Box(tier, read...))
		}
	}
	return all
}

// Box returns a box that reads the folders.
func Box(tier sandbox.Tier, read ...string) sandbox.Box {
	return sandbox.Box{Tier: tier, Read: read, Limits: sandbox.Limits{Memory: 2 << 30,
		Processes: 256, File: 2 << 30, Folder: 4 << 30}}
}

// Confine returns a box for a kernel with checkpoints that writes to the folders, or skips the test
// if the tier does not work.
func Confine(t testing.TB, tier string, folders ...string) sandbox.Box {
	t.Helper()
	if err := Works(t, tier); err != nil {
		t.Skip(err)
	}
	return sandbox.Box{
		Tier: sandbox.Tier(tier), Write: folders,
		Env: []string{"DSSTAR_FOLDER", "DSSTAR_DIGESTS", "UNDOKERNEL_WITHOUT", "PYTHONHASHSEED"},
		// no process limit: it would depend on what else runs
		Limits: sandbox.Limits{Memory: 6 << 30, File: 2 << 30, Folder: 8 << 30},
	}
}

// Within fails the test if do blocks.
func Within(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal(what, "waits")
	}
}

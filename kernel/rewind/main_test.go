package rewind

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
	"dsstar/kernel/undokernel"
	"dsstar/notebook"
)

var testTier = flag.String("tier", "",
	"run all kernels with checkpoints in this tier of the sandbox; \"\": most in none")

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if kerneltest.Main(os.Args) {
		return
	}
	kerneltest.VerifyMain(m)
}

// A setup is how a session is started.
type setup struct {
	kernel.Options
	back Options
}

// plain returns the setup for ipykernel in fresh folders.
func plain(t testing.TB) setup {
	dir := t.TempDir()
	return setup{kernel.Options{Spec: kernel.PythonSpec(pyenvtest.Python(t)), Dir: dir, Scratch: dir,
		Env: os.Environ()}, Options{}}
}

// freezing returns the setup for a kernel that freezes copies of itself.
func freezing(t testing.TB) setup {
	o := plain(t)
	o.Spec = checkpointSpec(t)
	return o
}

func checkpointSpec(t testing.TB) kernel.Spec {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	cache := must(os.UserCacheDir())
	spec, err := Spec(kernel.PythonSpec(pyenvtest.Python(t)),
		filepath.Join(cache, "dsstar", "test-kernels"))
	ok(t, err)
	return spec
}

// open starts a session. The end of the test closes it.
func open(t testing.TB, o setup) *Session {
	t.Helper()
	if *testTier != "" && slices.Contains(o.Spec.Argv, undokernel.Module) && o.Sandbox == nil {
		o.Sandbox = kerneltest.Confine(t, *testTier, o.Dir)
	}
	k, err := kernel.Start(t.Context(), o.Options)
	ok(t, err)
	s := New(k, o.back)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

var ok, check, runCell, prints = pyenvtest.OK, pyenvtest.Check, kerneltest.RunCell, kerneltest.Prints

func must[T any](value T, err error) T { return pyenvtest.Must(value, err) }

// goBack goes back to cells and checks the way, how many cells did not run again, and why others
// did.
func goBack(t testing.TB, k *Session, cells []string, way notebook.Way, kept int,
	why string) notebook.Restoration {
	t.Helper()
	back, err := k.Rollback(t.Context(), cells)
	ok(t, err)
	if back.Way != way || back.Kept != kept || !strings.Contains(back.Why, why) || why == "" &&
		back.Why != "" {
		t.Fatalf("went back by %s, %d kept, because %q; want %s, %d, %q", back.Way, back.Kept, back.Why,
			way, kept, why)
	}
	return back
}

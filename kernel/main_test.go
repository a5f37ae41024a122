package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if kerneltest.Main(os.Args) {
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "start-kernel-and-wait" {
		k, err := Start(context.Background(), Options{
			Spec: Spec{Name: "fake", Argv: kerneltest.Argv(kerneltest.None)}, Env: os.Environ()})
		fmt.Println(k.Info().PID, err)
		time.Sleep(time.Minute)
		return
	}
	kerneltest.VerifyMain(m)
}

// testPython returns a Python interpreter that has ipykernel, pandas and numpy.
func testPython(t testing.TB) string { return pyenvtest.Python(t) }

// options returns options for a Python kernel in fresh folders.
func options(t testing.TB) Options {
	dir := t.TempDir()
	return Options{Spec: PythonSpec(testPython(t)), Dir: dir, Scratch: dir, Env: os.Environ()}
}

// open starts a kernel. The end of the test closes it.
func open(t testing.TB, o Options) *Kernel {
	t.Helper()
	k, err := Start(t.Context(), o)
	ok(t, err)
	t.Cleanup(func() { check(t, k.Close()) })
	return k
}

var ok, check, runCell = pyenvtest.OK, pyenvtest.Check, kerneltest.RunCell

// fails checks that err is each of the errors that are wanted, and says each of the texts.
func fails(t testing.TB, err error, wanted ...any) {
	t.Helper()
	for _, want := range wanted {
		is, _ := want.(error)
		text, _ := want.(string)
		if err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

func must[T any](value T, err error) T { return pyenvtest.Must(value, err) }

package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

func TestContract(t *testing.T) {
	kerneltest.Run(t, func(t testing.TB, limit time.Duration) kerneltest.Kernel {
		o := options(t)
		o.CellTimeout = limit
		return open(t, o)
	})
}

// TCP is used where the path of a socket gets too long.
func TestTCP(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	k := open(t, options(t))
	if got := k.current().conn.Transport; got != "tcp" {
		t.Fatalf("transport %s", got)
	}
	runCell(t, k, "x = 1", notebook.OK)
	if _, err := k.Rollback(t.Context(), []string{"x = 2"}); err != nil {
		t.Fatal(err)
	}
	if got := runCell(t, k, "print(x)", notebook.OK).Stdout(); got != "2\n" {
		t.Errorf("stdout %q", got)
	}
	x := runCell(t, k, "import os; os._exit(3)", notebook.Died)
	if x.Reason != "the kernel died: exit status 3" {
		t.Errorf("reason %q", x.Reason)
	}
}

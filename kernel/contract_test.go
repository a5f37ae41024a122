package kernel

import (
	"strings"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
)

func TestContract(t *testing.T) {
	kerneltest.Run(t, func(t testing.TB, limit time.Duration) kerneltest.Kernel {
		o := options(t)
		o.CellTimeout = limit
		return open(t, o)
	})
}

// The same over TCP, which is used where the path of a socket gets too long.
func TestContractTCP(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	long := t.TempDir() + "/" + strings.Repeat("x", 100)
	if err := makeDir(long); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	kerneltest.Run(t, func(t testing.TB, limit time.Duration) kerneltest.Kernel {
		o := options(t)
		o.CellTimeout = limit
		k := open(t, o)
		if got := k.session.conn.Transport; got != "tcp" {
			t.Fatalf("transport %s", got)
		}
		return k
	})
}

package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
)

// one is the Python process of all tests, with the managed packages. It ends with the test
// program.
var one = sync.OnceValue(func() *Process {
	return &Process{Limit: 5 * time.Minute, Env: append(os.Environ(), "OMP_NUM_THREADS=1",
		"OPENBLAS_NUM_THREADS=1", "MPLBACKEND=Agg")}
})

func python(t testing.TB) Python {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it needs the managed Python")
	}
	path := pyenvtest.Python(t)
	one().Path = func(context.Context) (string, error) { return path, nil }
	return one().Run
}

// TestProcess: Python restarts after code that ended or hung it.
func TestProcess(t *testing.T) {
	t.Parallel()
	path := pyenvtest.Python(t)
	p := &Process{Limit: 2 * time.Second,
		Path: func(context.Context) (string, error) { return path, nil }}
	defer p.Close()
	for _, c := range []struct {
		code, want string
		failed     bool
	}{
		{"x = 7", "", false}, {"print(x)", "7\n", false}, {"1/0", "", true}, {"print(x)", "7\n", false},
		{"import os; os._exit(1)", "", true}, {"print('x' in globals())", "False\n", false},
		{"import time; time.sleep(60)", "", true}, {"raise SystemExit", "", true}, {"print(8)", "8\n",
			false},
	} {
		stdout, err := p.Run(t.Context(), c.code)
		if failed := errors.As(err, new(*CodeError)); stdout != c.want || failed != c.failed ||
			!failed && err != nil {
			t.Errorf("%s: %q, %v", c.code, stdout, err)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	p = &Process{Path: func(context.Context) (string, error) { return none, nil }}
	if _, err := p.Run(t.Context(), "1"); err == nil || errors.As(err, new(*CodeError)) {
		t.Errorf("no Python: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, "1"); err == nil || errors.As(err, new(*CodeError)) {
		t.Errorf("cancelled: %v", err)
	}
}

package kerneltest

import (
	"context"
	"testing"

	"dsstar/notebook"
)

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

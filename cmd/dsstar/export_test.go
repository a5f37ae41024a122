package main

import (
	"os"
	"testing"
)

// exported runs dsstar export and checks its exit code.
func exported(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	a, out, errs := testApp(t)
	if got := a.run(t.Context(), append([]string{"export"}, args...)); got != want {
		t.Errorf("%q: exit code %d, want %d\n%s", args, got, want, errs)
	}
	return out.String(), errs.String()
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

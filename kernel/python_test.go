package kernel

import (
	"os"
	"testing"
)

// testPython returns a Python interpreter that has ipykernel, pandas and numpy.
func testPython(t testing.TB) string {
	t.Helper()
	python := os.Getenv("DSSTAR_TEST_PYTHON")
	if python == "" {
		t.Skip("DSSTAR_TEST_PYTHON names no Python with ipykernel")
	}
	return python
}

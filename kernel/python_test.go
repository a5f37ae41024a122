package kernel

import (
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
)

// testPython returns a Python interpreter that has ipykernel, pandas and numpy.
func testPython(t testing.TB) string { return pyenvtest.Python(t) }

package pyenvtest

import (
	"os"
	"testing"
)

// Long skips a test that takes too long for go test ./... on a laptop: random sessions, servers,
// browsers, kills. DSSTAR_LONG=1 runs them all; CI names some of them.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("DSSTAR_LONG") == "" {
		t.Skip("a long test: set DSSTAR_LONG=1 to run it")
	}
}

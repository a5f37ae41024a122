//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// What may pass refuses no tier; anything else says why namespaces are not made.
func TestNotMade(t *testing.T) {
	for _, words := range []string{"fork/exec: Resource temporarily unavailable",
		"runtime: failed to create new OS thread (have 2 already; errno=11)\nfatal error: newosproc"} {
		err := notMade(errors.New("exit status 2"), words)
		if !errors.Is(err, ErrProcesses) || isMissing(err) {
			t.Errorf("%s: %v", words, err)
		}
	}
	err := notMade(errors.New("exit status 1"), "mount /proc: operation not permitted\ngoroutine 1")
	if missing, ok := errors.AsType[*MissingError](err); !ok || missing.Tier != Full ||
		!strings.Contains(err.Error(), "mount /proc") || strings.Contains(err.Error(), "goroutine") {
		t.Error(err)
	}
	t.Setenv("TMPDIR", os.TempDir()+"/missing")
	if err := tryFull(); err == nil || isMissing(err) {
		t.Errorf("without a temporary folder: %v", err)
	}
}

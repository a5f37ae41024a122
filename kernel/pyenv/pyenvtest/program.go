package pyenvtest

import (
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a file that a test executes. A child process forked while the file is open
// for writing holds it open until its own exec, and executing the file fails until then with "text
// file busy" (golang.org/issue/22315): no process is forked meanwhile.
func WriteProgram(t testing.TB, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// testApp is the program with an environment of its own; the caches are the
// user's, so that the Python environment is made only once.
func testApp(t *testing.T, env ...string) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	a = &app{stdin: strings.NewReader(""), stdout: stdout, stderr: stderr, width: func() int { return 80 }}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "DSSTAR_") && !strings.Contains(entry, "API_KEY") {
			a.env = append(a.env, entry)
		}
	}
	a.env = append(a.env, env...)
	a.cacheDir, _ = userDirs(a.getenv)
	return a, stdout, stderr
}

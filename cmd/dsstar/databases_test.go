package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
)

// TestLocked: a database file that another program has locked is no data of an unknown kind.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.duckdb")
	holder := exec.Command(pyenvtest.Python(t), "-c", `import duckdb, sys
con = duckdb.connect(sys.argv[1])
con.execute("CREATE TABLE t AS SELECT 1 AS n")
print("ready", flush=True)
sys.stdin.read()`, file)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), holder.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	s := runNB(t, nil, filepath.Join(t.TempDir(), "run"), "--data", file, "--base-url",
		"http://127.0.0.1:1/v1")
	s.expect(exitError, "open in another program", "hint: fuser -v "+file, "hint: cp "+file+"* ")
	a, stdout, stderr := testApp(t)
	code := a.run(t.Context(), []string{"describe", dir})
	if code != exitVerified || !strings.Contains(stdout.String(), "open in another program") ||
		strings.Contains(stdout.String()+s.stderr, "PID") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

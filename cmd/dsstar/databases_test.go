package main

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/cmd/dsstar/internal/dbtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// TestDatabaseProblems: what keeps a database from being described is told apart, in words for people.
func TestDatabaseProblems(t *testing.T) {
	pyenvtest.Long(t)
	t.Setenv("PGPASSWORD", "")
	postgres, maria := dbtest.Postgres(t), dbtest.MariaDB(t)
	for server, sql := range map[*dbtest.Server]string{
		&postgres: "CREATE ROLE reader LOGIN PASSWORD 'planted-word'; CREATE TABLE a AS SELECT 1 AS n; " +
			"GRANT SELECT ON a TO reader; CREATE VIEW slow AS SELECT 1 AS n FROM pg_sleep(60); " +
			"GRANT SELECT ON slow TO reader; CREATE DATABASE closed;\n" +
			"REVOKE CONNECT ON DATABASE closed FROM PUBLIC;\n",
		&maria: "CREATE USER reader@'%' IDENTIFIED BY 'planted-word'; GRANT SELECT ON sales.* TO reader@'%';",
	} {
		if err := server.Run(sql); err != nil {
			t.Fatal(err)
		}
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connections wait in it, unanswered
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	at := func(dialect, word string, port int, name string) string {
		return fmt.Sprintf("%s://reader%s@127.0.0.1:%d/%s", dialect, word, port, name)
	}
	const right, wrong = ":planted-word", ":planted-other"
	for _, c := range []struct {
		address string
		code    int
		said    string
		hint    string
	}{
		{at("postgresql", right, postgres.Port, "sales"), exitVerified, "", ""}, // but for the slow view
		{at("postgresql", wrong, postgres.Port, "sales"), exitCredentials, "", "user and password"},
		{at("postgresql", "", postgres.Port, "sales"), exitCredentials, "no password", "user and password"},
		{at("postgresql", right, postgres.Port, "closed"), exitCredentials, "closed", "user and password"},
		{at("postgresql", right, postgres.Port, "nowhere"), exitError, `"nowhere" does not exist`, "database"},
		{at("postgresql", right, 1, "passwords"), exitError, "refused", "host"},
		{at("postgresql", right, silent.Addr().(*net.TCPAddr).Port, "x"), exitError, "longer than",
			"--cell-timeout"},
		{at("mysql", wrong, maria.Port, "sales"), exitCredentials, "", "user and password"},
		{at("mysql", right, 1, "sales"), exitError, "refused", "host"},
	} {
		a, stdout, stderr := testApp(t)
		code := a.run(t.Context(), []string{"describe", "--no-cache", "--cell-timeout", "10s", c.address})
		said := stderr.String()
		_, hints, _ := strings.Cut(said, "hint: ")
		if code != c.code || !strings.Contains(said, c.said) || !strings.Contains(hints, c.hint) {
			t.Errorf("%s: exit code %d\n%s%s", c.address, code, stdout, said)
		}
		for _, never := range []string{`\n`, `\t`, "Background", "planted-"} {
			if strings.Contains(said, never) {
				t.Errorf("%s: %s", c.address, said)
			}
		}
	}
}

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
	code := a.run(t.Context(), []string{"describe", "--no-cache", dir})
	if code != exitVerified || !strings.Contains(stdout.String(), "open in another program") ||
		strings.Contains(stdout.String()+s.stderr, "PID") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

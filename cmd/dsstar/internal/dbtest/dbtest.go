//go:build unix

// Package dbtest starts database servers for tests.
package dbtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Server is a running database server. Its owner has the password "owner".
type Server struct {
	Port int
	run  func(sql string) error
}

// Postgres starts PostgreSQL with an empty database "sales" that belongs to "owner". It ends with the
// test. Without PostgreSQL the test is skipped, except in CI.
func Postgres(t testing.TB) Server {
	t.Helper()
	bin := postgresFolder()
	if bin == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no PostgreSQL: apt-get install postgresql")
		}
		t.Skip("no PostgreSQL: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("/var/tmp", "dsstar-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var as *syscall.Credential // it does not run as root
	if os.Getuid() == 0 {
		const nobody = 65534
		as = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PGPASSWORD=owner", "LC_ALL=C")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		return cmd
	}
	must := func(cmd *exec.Cmd) {
		t.Helper()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(cmd.Path), err, out)
		}
	}
	word := filepath.Join(dir, "word")
	if err := os.WriteFile(word, []byte("owner\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	must(command("initdb", "-D", data, "-U", "owner", "--auth=scram-sha-256", "--pwfile="+word,
		"--no-sync"))
	s := Server{Port: freePort(t)}
	server := command("postgres", "-D", data, "-p", strconv.Itoa(s.Port), "-F",
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT)
		_ = server.Wait()
	})
	at := []string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-U", "owner"}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		out, err := command("psql", append(at, "-d", "postgres", "-c", "CREATE DATABASE sales")...).
			CombinedOutput()
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("PostgreSQL does not start: %s", out)
		}
	}
	s.run = func(sql string) error {
		cmd := command("psql", append(at, "-d", "sales", "-v", "ON_ERROR_STOP=1", "-q")...)
		cmd.Stdin = strings.NewReader(sql)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	return s
}

// Run runs SQL as the owner.
func (s Server) Run(sql string) error { return s.run(sql) }

// postgresFolder is the folder of PostgreSQL's programs, "" if there is none. Debian keeps those of
// the server off the PATH.
func postgresFolder() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

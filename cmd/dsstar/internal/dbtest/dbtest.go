// Package dbtest starts database servers for tests.
package dbtest

import (
	"cmp"
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

	"dsstar/kernel/pyenv/pyenvtest"
)

// servers are known by name. In their commands PORT stands for the port, DIR for a folder of the
// server's own, OBJECTS for the folder of what it has, PYTHON for an interpreter, SPARK for what pip
// has put beside it.
var servers = map[string]struct {
	needs, install string // a program, and how it comes
	required       bool   // in CI
	command        string
	beside         string // one more server
	prepare        string // where it has a folder of data
	client, first  string // reads SQL as the owner; the database that is there already
}{
	"postgres": {needs: "initdb", install: "apt-get install postgresql", required: true,
		prepare: "initdb -D DIR/data -U owner --auth=scram-sha-256 --pwfile=DIR/word --no-sync",
		command: "postgres -D DIR/data -p PORT -F -c listen_addresses=127.0.0.1 -c unix_socket_directories=",
		client:  "psql -h 127.0.0.1 -p PORT -U owner -q -v ON_ERROR_STOP=1 -d", first: "postgres"},
	"mariadb": {needs: "mariadb-install-db", install: "apt-get install mariadb-server", required: true,
		prepare: "mariadb-install-db --no-defaults --datadir=DIR/data --skip-test-db " +
			"--auth-root-authentication-method=normal",
		command: "mariadbd --no-defaults --datadir=DIR/data --socket=DIR/socket --bind-address=127.0.0.1 --port=PORT " +
			"--pid-file=DIR/pid",
		client: "mariadb --no-defaults --socket=DIR/socket -u root", first: "mysql"},
	"s3": {needs: "PYTHON", required: true, command: "PYTHON -m moto.server -H 127.0.0.1 -p PORT"},
	"gcs": {needs: "fake-gcs-server", install: "go install github.com/fsouza/fake-gcs-server@latest",
		command: "fake-gcs-server -scheme http -host 127.0.0.1 -port PORT -backend memory -data OBJECTS"},
	"azure": {needs: "azurite-blob", install: "npm install -g azurite", // has the account devstoreaccount1
		command: "azurite-blob --blobHost 127.0.0.1 --blobPort PORT --inMemoryPersistence --skipApiVersionCheck"},
	"spark": {needs: "SPARK/bin/spark-submit", required: true,
		install: "apt-get install default-jre-headless, " + clusters,
		command: "SPARK/bin/spark-submit " +
			"--class org.apache.spark.sql.connect.service.SparkConnectServer --master local[1] --driver-memory 600m " +
			"--conf spark.connect.grpc.binding.address=127.0.0.1 --conf spark.connect.grpc.binding.port=PORT " +
			"--conf spark.ui.enabled=false --conf spark.driver.bindAddress=127.0.0.1 " +
			"--conf spark.driver.host=127.0.0.1 spark-internal"},
	"dask": {needs: "PYTHON", install: clusters, required: true,
		command: "PYTHON -m dask scheduler --no-dashboard --host 127.0.0.1 --port PORT",
		beside:  "PYTHON -m dask worker tcp://127.0.0.1:PORT --no-dashboard --nworkers 1 --nthreads 1"},
}

const clusters = "python3 -m venv DIR, DIR/bin/pip install -r configs/python-clusters.txt, " +
	"DSSTAR_TEST_CLUSTERS=DIR/bin/python"

// A Server is a running database server.
type Server struct {
	Port   int
	t      testing.TB
	dir    string
	client string
	as     *syscall.Credential
	end    syscall.Signal
	words  *strings.Replacer
}

// Start starts a server that ends with the test: of a database with an empty database "sales", whose
// owner "owner" has the password "owner"; else with the objects of a folder, in a Python that has it.
// Without its program the test is skipped, except in CI.
func Start(t testing.TB, name, python, objects string) *Server {
	t.Helper()
	row := servers[name]
	dir, err := os.MkdirTemp("/var/tmp", "dsstar-db-")
	pyenvtest.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	pyenvtest.OK(t, err)
	_ = l.Close()
	s := &Server{Port: l.Addr().(*net.TCPAddr).Port, t: t, dir: dir, end: syscall.SIGTERM} // at SIGQUIT Java goes on
	s.words = strings.NewReplacer("PORT", strconv.Itoa(s.Port), "DIR", dir, "OBJECTS", objects, "PYTHON", python,
		"SPARK", last(filepath.Join(filepath.Dir(filepath.Dir(python)), "lib/python3*/site-packages/pyspark")))
	if needs := s.words.Replace(row.needs); found(needs) == "" {
		text := fmt.Sprintf("no %s: %s", cmp.Or(needs, "Python for "+name), row.install)
		if row.required && os.Getenv("CI") != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	if row.prepare != "" {
		s.end = syscall.SIGQUIT
		if os.Getuid() == 0 { // it does not run as root
			const nobody = 65534
			s.as = &syscall.Credential{Uid: nobody, Gid: nobody}
			pyenvtest.OK(t, os.Chown(dir, nobody, nobody))
		}
		pyenvtest.OK(t, os.WriteFile(filepath.Join(dir, "word"), []byte("owner\n"), 0o644))
		pyenvtest.OK(t, s.feed("", row.prepare))
	}
	s.serve(row.command)
	s.client = row.client + " sales"
	ready := func() error {
		if row.client != "" {
			return s.feed("CREATE DATABASE sales", row.client+" "+row.first)
		}
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(s.Port))
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	end := time.Now().Add(time.Minute)
	for err = ready(); err != nil && time.Now().Before(end); err = ready() {
		time.Sleep(50 * time.Millisecond)
	}
	pyenvtest.OK(t, err)
	if row.beside != "" {
		s.serve(row.beside)
	}
	return s
}

// Run runs SQL as the owner.
func (s *Server) Run(sql string) error { return s.feed(sql, s.client) }

// command is one of a line. Programs of servers may be off the PATH, where Debian keeps them.
func (s *Server) command(line string) *exec.Cmd {
	words := strings.Fields(s.words.Replace(line))
	cmd := exec.Command(found(words[0]), words[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "PGPASSWORD=owner", "LC_ALL=C", "HOME="+s.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// feed runs a program with a text as its standard input.
func (s *Server) feed(text, line string) error {
	cmd := s.command(line)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return nil
}

// serve runs a server until the test ends.
func (s *Server) serve(line string) {
	s.t.Helper()
	server := s.command(line)
	pyenvtest.OK(s.t, server.Start())
	s.t.Cleanup(func() {
		_ = server.Process.Signal(s.end)
		_ = server.Wait()
	})
}

// found is the path of a program, "" if there is none.
func found(program string) string {
	if off := last("/usr/lib/postgresql/*/bin/" + program); off != "" {
		return off
	}
	path, _ := exec.LookPath(program)
	return path
}

// last is the last path that a pattern matches, or "".
func last(pattern string) string {
	all, _ := filepath.Glob(pattern)
	return append([]string{""}, all...)[len(all)]
}

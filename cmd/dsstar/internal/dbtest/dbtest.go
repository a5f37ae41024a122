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
		missing(t, "PostgreSQL", "postgresql")
	}
	at := newPlace(t, bin)
	word := filepath.Join(at.dir, "word")
	if err := os.WriteFile(word, []byte("owner\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(at.dir, "data")
	at.must("initdb", "-D", data, "-U", "owner", "--auth=scram-sha-256", "--pwfile="+word,
		"--no-sync")
	s := Server{Port: freePort(t)}
	at.serve("postgres", "-D", data, "-p", strconv.Itoa(s.Port), "-F",
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	args := []string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-U", "owner", "-q", "-v",
		"ON_ERROR_STOP=1", "-d"}
	s.run = func(sql string) error { return at.feed(sql, "psql", append(args, "sales")...) }
	at.wait(func() error {
		return at.feed("CREATE DATABASE sales", "psql", append(args, "postgres")...)
	})
	return s
}

// MariaDB is [Postgres] for MariaDB.
func MariaDB(t testing.TB) Server {
	t.Helper()
	if _, err := exec.LookPath("mariadb-install-db"); err != nil {
		missing(t, "MariaDB", "mariadb-server")
	}
	at := newPlace(t, "")
	data, socket := filepath.Join(at.dir, "data"), filepath.Join(at.dir, "socket")
	at.must("mariadb-install-db", "--no-defaults", "--datadir="+data, "--skip-test-db",
		"--auth-root-authentication-method=normal")
	s := Server{Port: freePort(t)}
	at.serve("mariadbd", "--no-defaults", "--datadir="+data, "--socket="+socket,
		"--bind-address=127.0.0.1", "--port="+strconv.Itoa(s.Port), "--pid-file="+at.dir+"/pid")
	args := []string{"--no-defaults", "--socket=" + socket, "-u", "root"}
	s.run = func(sql string) error { return at.feed(sql, "mariadb", append(args, "sales")...) }
	at.wait(func() error { return at.feed("CREATE DATABASE sales", "mariadb", args...) })
	return s
}

// S3 starts an S3 server, in a Python that has moto.
func S3(t testing.TB, python string) Server {
	t.Helper()
	return listening(t, python, "-m", "moto.server", "-H", "127.0.0.1", "-p", port)
}

// GCS starts a server of Google Cloud Storage with the objects of a folder.
func GCS(t testing.TB, objects string) Server {
	t.Helper()
	return listening(t, optional(t, "fake-gcs-server", "go install github.com/fsouza/fake-gcs-server@latest"),
		"-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory", "-data", objects)
}

// Azure starts a server of Azure's blobs, with the account devstoreaccount1.
func Azure(t testing.TB) Server {
	t.Helper()
	return listening(t, optional(t, "azurite-blob", "npm install -g azurite"), "--blobHost", "127.0.0.1",
		"--blobPort", port, "--inMemoryPersistence", "--skipApiVersionCheck")
}

// optional returns the path of a program, without which the test is skipped.
func optional(t testing.TB, program, install string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("no %s: %s", program, install)
	}
	return path
}

// port stands for that of a server in its arguments.
const port = "PORT"

// listening starts a server as this user, since its program may be in the home.
func listening(t testing.TB, program string, args ...string) Server {
	t.Helper()
	s := Server{Port: freePort(t)}
	at := newPlace(t, "")
	at.as, at.end = nil, syscall.SIGTERM // at SIGQUIT Java goes on
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, port, strconv.Itoa(s.Port))
	}
	at.serve(program, args...)
	at.wait(func() error {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(s.Port))
		if err == nil {
			_ = c.Close()
		}
		return err
	})
	return s
}

// Clusters is the interpreter with Spark Connect and Dask that $DSSTAR_TEST_CLUSTERS names. Without
// it the test is skipped, except in CI.
func Clusters(t testing.TB) string {
	t.Helper()
	python := os.Getenv("DSSTAR_TEST_CLUSTERS")
	if python == "" {
		missing(t, "Python with Spark and Dask", "default-jre-headless, python3 -m venv DIR, "+
			"DIR/bin/pip install -r configs/python-clusters.txt, DSSTAR_TEST_CLUSTERS=DIR/bin/python")
	}
	return python
}

// Spark starts Spark Connect, in a Python that has it.
func Spark(t testing.TB, python string) Server {
	t.Helper()
	found, err := exec.Command(python, "-c", "import pyspark; print(pyspark.__path__[0])").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("java"); err != nil {
		missing(t, "Java", "default-jre-headless")
	}
	return listening(t, filepath.Join(strings.TrimSpace(string(found)), "bin", "spark-submit"),
		"--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[1]",
		"--driver-memory", "600m", "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
		"--conf", "spark.connect.grpc.binding.port="+port, "--conf", "spark.ui.enabled=false",
		"--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.driver.host=127.0.0.1",
		"spark-internal")
}

// Dask starts a Dask scheduler with a worker, in a Python that has them.
func Dask(t testing.TB, python string) Server {
	t.Helper()
	s := listening(t, python, "-m", "dask", "scheduler", "--no-dashboard", "--host", "127.0.0.1", "--port", port)
	at := newPlace(t, "")
	at.as = nil
	at.serve(python, "-m", "dask", "worker", "tcp://127.0.0.1:"+strconv.Itoa(s.Port),
		"--no-dashboard", "--nworkers", "1", "--nthreads", "1")
	return s
}

// missing skips the test, or fails it in CI.
func missing(t testing.TB, what, debian string) {
	t.Helper()
	if text := "no " + what + ": apt-get install " + debian; os.Getenv("CI") != "" {
		t.Fatal(text)
	} else {
		t.Skip(text)
	}
}

// A place is the folder of a server, which does not run as root.
type place struct {
	t   testing.TB
	dir string
	bin string // the folder of its programs; "": they are on the PATH
	as  *syscall.Credential
	end syscall.Signal
}

func newPlace(t testing.TB, bin string) place {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "dsstar-db-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := place{t: t, dir: dir, bin: bin, end: syscall.SIGQUIT}
	if os.Getuid() == 0 {
		const nobody = 65534
		p.as = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p place) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	if p.bin == "" {
		cmd = exec.Command(name, args...)
	}
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "PGPASSWORD=owner", "LC_ALL=C", "HOME="+p.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

// must runs a program, which must succeed.
func (p place) must(name string, args ...string) {
	p.t.Helper()
	if err := p.feed("", name, args...); err != nil {
		p.t.Fatal(err)
	}
}

// feed runs a program with a text as its standard input.
func (p place) feed(text, name string, args ...string) error {
	cmd := p.command(name, args...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// serve runs a server until the test ends.
func (p place) serve(name string, args ...string) {
	p.t.Helper()
	server := p.command(name, args...)
	if err := server.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = server.Process.Signal(p.end)
		_ = server.Wait()
	})
}

// wait tries until something succeeds.
func (p place) wait(try func() error) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			p.t.Fatal(err)
		}
	}
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

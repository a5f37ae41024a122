package profile_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/agent/describe/profile"
	"dsstar/kernel/pyenv/pyenvtest"
)

// warm is a Python that runs the code of tests in children: to import the libraries takes longer
// than most tests.
var warm struct {
	once   sync.Once
	folder string // with the program, the socket and the folders of made
	in     io.Closer
	cmd    *exec.Cmd
	err    error
	making sync.Mutex
}

func TestMain(m *testing.M) {
	code := m.Run()
	if warm.in != nil {
		warm.in.Close()
		_ = warm.cmd.Wait()
	}
	_ = os.RemoveAll(warm.folder)
	os.Exit(code)
}

func startWarm(python string) error {
	var err error
	if warm.folder, err = os.MkdirTemp("", "profile"); err != nil {
		return err
	}
	program := filepath.Join(warm.folder, "profile.py")
	warm.cmd = exec.Command(python, "-I", "testdata/warm.py", program, filepath.Join(warm.folder, "socket"))
	warm.cmd.Stderr = os.Stderr
	out, outErr := warm.cmd.StdoutPipe()
	in, inErr := warm.cmd.StdinPipe()
	warm.in = in
	err = errors.Join(outErr, inErr, os.WriteFile(program, []byte(profile.Load+profile.Program()), 0o600))
	if err = cmp.Or(err, warm.cmd.Start()); err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	return err
}

// run returns what code has printed in a folder, in a child of the warm Python. It must not fail.
func run(t testing.TB, dir, code string) string {
	t.Helper()
	python := pyenvtest.Python(t)
	warm.once.Do(func() { warm.err = startWarm(python) })
	if warm.err != nil {
		t.Fatal(warm.err)
	}
	to, err := net.Dial("unix", filepath.Join(warm.folder, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	var all []byte
	if err = json.NewEncoder(to).Encode([]string{dir, code}); err == nil {
		all, err = io.ReadAll(to)
	}
	said, status, _ := strings.Cut(string(all), "\x00")
	if err != nil || status != "0" {
		t.Fatalf("exit code %s, %v:\n%s", status, err, said)
	}
	return said
}

// made returns a folder with the files that a script in testdata writes, which tests share.
func made(t *testing.T, by string) (dir string, files []os.DirEntry) {
	t.Helper()
	recipe, err := os.ReadFile("testdata/" + by)
	if err != nil {
		t.Fatal(err)
	}
	run(t, t.TempDir(), "") // the folder of warm is there
	dir = filepath.Join(warm.folder, by+".files")
	warm.making.Lock()
	defer warm.making.Unlock()
	if err := os.Mkdir(dir, 0o700); err == nil {
		run(t, dir, string(recipe))
	}
	files, err = os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, files
}

// alone makes profiles of files of a folder as dsstar does, in a process of their own.
func alone(t *testing.T, dir string, names ...string) (profiles []profile.Profile, by *os.ProcessState) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "profile.py")
	code := profile.Load + profile.Script(names, profile.Bounds{File: time.Minute, Within: time.Minute, Jobs: 1}, "mark")
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pyenvtest.Python(t), "-I", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	profiles = make([]profile.Profile, len(names))
	for line := range strings.Lines(string(out)) {
		var n int
		_, err := fmt.Sscanf(line, "mark %d", &n)
		if _, text, _ := strings.Cut(line, "{"); err != nil || json.Unmarshal([]byte("{"+text), &profiles[n]) != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	return profiles, cmd.ProcessState
}

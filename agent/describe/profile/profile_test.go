package profile_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/kernel/pyenv/pyenvtest"
)

var update = flag.Bool("update", false, "write testdata/profiles.golden anew")

// profiled is the profile of a file by its path, which may be relative to a folder.
func profiled(t testing.TB, dir, path string) (found profile.Profile) {
	t.Helper()
	const code = `print(sys.modules["dsstar_profile.profile"].text(%s, 60))`
	check(t, json.Unmarshal([]byte(run(t, dir, fmt.Sprintf(code, brief.Python(path)))), &found))
	return found
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestBounds makes profiles of files that are meant to take too much time or memory, and of those
// that DSSTAR_LARGE names, with spaces between them. Each has a process of its own, which ends within
// its limits whatever it is given.
func TestBounds(t *testing.T) {
	pyenvtest.Long(t)
	paths := strings.Fields(os.Getenv("DSSTAR_LARGE"))
	dir, files := made(t, "hostile.py")
	for _, f := range files {
		paths = append(paths, filepath.Join(dir, f.Name()))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			began := time.Now()
			found, by := alone(t, filepath.Dir(path), path)
			took := time.Since(began)
			used, ok := by.SysUsage().(*syscall.Rusage)
			if !ok {
				t.Skip("the system does not tell how much memory a process has used")
			}
			t.Logf("%.1f s, of them %.1f s of a processor, %d MB: %.3000s", took.Seconds(),
				(by.UserTime() + by.SystemTime()).Seconds(), used.Maxrss>>10, found[0].Text(6000, ""))
			if used.Maxrss>>10 >= 1000 || took > 90*time.Second {
				t.Errorf("it took %d MB of memory and %v", used.Maxrss>>10, took)
			}
		})
	}
}

// TestProfiles runs the program as dsstar runs it.
func TestProfiles(t *testing.T) {
	t.Parallel()
	dir, files := made(t, "make.py")
	names := make([]string, len(files))
	for n, f := range files {
		names[n] = f.Name()
	}
	profiles, _ := alone(t, dir, names...)
	var got bytes.Buffer
	for n, found := range profiles {
		fmt.Fprintf(&got, "== %s\n%s\n\n", names[n], found.Text(2500, ""))
	}
	const golden = "testdata/profiles.golden"
	if *update {
		check(t, os.WriteFile(golden, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	check(t, err)
	for _, section := range strings.Split(got.String(), "== ") {
		if !slices.Contains(strings.Split(string(want), "== "), section) {
			t.Errorf("a profile has changed (-update writes it):\n%s", section)
		}
	}
}

// What a question names is told of a wide table in any room, and rows of tables that have no line of
// their own are told as they are known.
func TestTextFits(t *testing.T) {
	wide, many := profile.Table{}, make([]profile.Table, 61)
	for n := range 400 {
		name := fmt.Sprintf("sensor%d", n)
		wide.Columns = append(wide.Columns, profile.Column{Name: name, Type: "number", Line: "number 0 to 9.5"})
		wide.Names = append(wide.Names, name)
	}
	for n := range many {
		many[n] = profile.Table{Name: fmt.Sprint("t", n), Count: fmt.Sprintf("about %d rows", n)}
	}
	long := profile.Table{Names: []string{"age"}, Columns: []profile.Column{{Name: "age", Brief: "integer 38 to 90",
		Line: "integer 38 to 90; 37 values: " + strings.Repeat("38, ", 100)}}}
	for _, c := range []struct {
		tables []profile.Table
		chars  int
		want   string
	}{
		{many, 9000, "other tables: t60 (about 60 rows)"},
		{[]profile.Table{wide}, 20_000, "- sensor377: number 0 to 9.5"},
		{[]profile.Table{wide}, 200, "- sensor377: number 0 to 9.5"},
		{[]profile.Table{long}, 200, "- age: integer 38 to 90"}, // of which not all values have room
	} {
		text := profile.Profile{Format: "text", Tables: c.tables}.Text(c.chars, "What is the mean of sensor377?")
		if len(text) > c.chars+100 || !strings.Contains(text, c.want) {
			t.Errorf("in %d bytes there is no %q in %d:\n%s", c.chars, c.want, len(text), text)
		}
	}
}

// TestLogs has the rows of a database that are not in its file yet, wherever programs have left
// them, and says how cells open it where they cannot write.
func TestLogs(t *testing.T) {
	t.Parallel()
	dir, _ := made(t, "logs.py")
	data := filepath.Join(dir, "data")
	err := os.MkdirAll(data, 0o755)
	for name, asks := range map[string]bool{"at-work.sqlite": false, "copied.sqlite": true,
		"closed.sqlite": true, "idle.sqlite": false, "plain.sqlite": false, "store.duckdb": false} {
		err = cmp.Or(err, os.Symlink(filepath.Join(dir, name), filepath.Join(data, name)))
		for _, path := range []string{name, "data/" + name} {
			is := profiled(t, dir, path)
			if len(is.Tables) != 1 || is.Tables[0].Count != "100 rows" {
				t.Errorf("%s: tables are %v, %s, %v", path, is.Tables, is.Problem, err)
			}
			if text := is.Text(10_000, ""); strings.Contains(text, "file:PATH?") != asks {
				t.Errorf("%s: %s", path, text)
			}
		}
	}
	if is := profiled(t, dir, "cut.sqlite"); len(is.Tables) > 0 || !strings.Contains(is.Problem, "cut off") {
		t.Errorf("a change that was cut off: tables are %v, %s", is.Tables, is.Problem)
	}
}

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
	check(t, warm.err)
	to, err := net.Dial("unix", filepath.Join(warm.folder, "socket"))
	check(t, err)
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
	check(t, err)
	run(t, t.TempDir(), "") // the folder of warm is there
	dir = filepath.Join(warm.folder, by+".files")
	warm.making.Lock()
	defer warm.making.Unlock()
	if err := os.Mkdir(dir, 0o700); err == nil {
		run(t, dir, string(recipe))
	}
	files, err = os.ReadDir(dir)
	check(t, err)
	return dir, files
}

// alone makes profiles of files of a folder as dsstar does, in a process of their own.
func alone(t *testing.T, dir string, names ...string) (profiles []profile.Profile, by *os.ProcessState) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "profile.py")
	code := profile.Load + profile.Script(names, profile.Bounds{File: time.Minute, Within: time.Minute, Jobs: 1}, "mark")
	check(t, os.WriteFile(script, []byte(code), 0o600))
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

package pyenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// ok ends a test that cannot go on.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A bench has a folder of fake tools, which is all of PATH except the shell's own, and a cache
// folder.
type bench struct {
	t   *testing.T
	bin string
	Options
	mu    sync.Mutex
	lines []string
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, bin: filepath.Join(t.TempDir(), "bin")}
	b.Options = Options{Dir: filepath.Join(t.TempDir(), "a cache [1]"),
		Lock:     []byte("thing==1 --hash=sha256:0\n"),
		Env:      []string{"PATH=" + b.bin, "LOG=" + filepath.Join(t.TempDir(), "log")},
		Progress: func(line string) { b.mu.Lock(); b.lines = append(b.lines, line); b.mu.Unlock() }}
	ok(t, os.Mkdir(b.bin, 0o755))
	return b
}

// tool writes a fake tool into PATH.
func (b *bench) tool(name, script string) string {
	b.t.Helper()
	path := filepath.Join(b.bin, name)
	ok(b.t, os.WriteFile(path, []byte("#!/bin/sh\nexport PATH=$PATH:/usr/bin:/bin\n"+script),
		0o755))
	return path
}

// python adds a fake interpreter. It answers the probe and creates environments whose python runs
// the script pip as pip.
func (b *bench) python(name, version, venv, pip string) string {
	b.t.Helper()
	return b.tool(name, fmt.Sprintf(`
case "$*" in
*dsstar*) %s;;
"-I -m venv"*)
	echo venv >>"$LOG"
	mkdir -p "$4/bin"
	cat >"$4/bin/python" <<'END'
#!/bin/sh
export PATH=$PATH:/usr/bin:/bin
env="$(dirname "$(dirname "$0")")"
case "$*" in *dsstar*) [ -e "$env/minor" ] && . "$env/minor" || %s; exit 0;; esac
echo pip "$@" >>"$LOG"
%s
END
	chmod +x "$4/bin/python";;
*) echo "unexpected: $*" >&2; exit 9;;
esac
`, saying(version, venv, filepath.Join(b.bin, name)), saying(version, venv, ""), pip))
}

// saying is a command of the shell that answers [Describe].
func saying(version, venv, base string) string {
	return fmt.Sprintf(`printf '\n%s{"Version":"%s","Implementation":"cpython","Venv":%s,"Path":"%s","Base":"%[4]s"}\n'`,
		describeMark, version, strings.ToLower(venv), base)
}

func (b *bench) log() string {
	data, _ := os.ReadFile(strings.TrimPrefix(b.Env[1], "LOG="))
	return string(data)
}

// ensure creates the environment and expects success.
func (b *bench) ensure() string {
	b.t.Helper()
	python, err := Ensure(b.t.Context(), b.Options)
	ok(b.t, err)
	_, err = os.Stat(python)
	ok(b.t, err)
	return python
}

// noEnvironment expects that only lock files are left.
func (b *bench) noEnvironment() {
	b.t.Helper()
	entries, _ := os.ReadDir(b.Dir)
	for _, e := range entries {
		if e.IsDir() {
			b.t.Errorf("%s is left", e.Name())
		}
	}
}

// TestCreateThenReuse: an environment has exactly what its lock says, from the user's index and in no
// other place, and is there for whoever asks again.
func TestCreateThenReuse(t *testing.T) {
	b := newBench(t)
	b.Env = append(b.Env, "PIP_INDEX_URL=https://mirror.example.org/simple", "PIP_TARGET=/elsewhere")
	b.python("python3", "3.12.1", "True", `echo "$PIP_INDEX_URL,$PIP_TARGET" >>"$LOG"`)
	first := b.ensure()
	name := filepath.Base(filepath.Dir(filepath.Dir(first)))
	if !strings.HasPrefix(name, "python-3.12-") || len(name) != len("python-3.12-")+12 {
		t.Errorf("the folder is called %s", name)
	}
	want := "pip -I -m pip install --requirement " + filepath.Join(b.Dir, name, "requirements.txt") +
		" --require-hashes --no-deps --only-binary :all:\nhttps://mirror.example.org/simple,\n"
	if log := b.log(); !strings.HasSuffix(log, want) {
		t.Errorf("ran %q, want %q", log, want)
	}
	for _, part := range []string{"creating the Python environment", "ready after"} {
		if !strings.Contains(strings.Join(b.lines, "\n"), part) {
			t.Errorf("progress lacks %q: %q", part, b.lines)
		}
	}
	env := b.Env
	b.Env = nil // a ready environment needs no tools and no network
	if again := b.ensure(); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	b.Env, b.Lock = env, []byte("thing==2 --hash=sha256:0\n")
	if other := b.ensure(); other == first {
		t.Error("one environment for two locks")
	}
	_, err := os.Stat(first) // the old environment
	ok(t, err)
}

func TestFailuresLeaveNothing(t *testing.T) {
	for _, test := range []struct{ pip, words string }{
		{"echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.' >&2; exit 1",
			"DO NOT MATCH"},
		{"seq 1000; printf 'no newline'; exit 3", "1000\nno newline"},
		{"", "ensurepip is not available"},
	} {
		b := newBench(t)
		b.python("python3", "3.12.1", "True", test.pip)
		if test.pip == "" {
			b.tool("python3", `case "$*" in *dsstar*) `+
				saying("3.12.1", "True", filepath.Join(b.bin, "python3"))+`;; *) mkdir -p "$4"; echo "ensurepip is not available" >&2; exit 1;; esac`)
		}
		_, err := Ensure(t.Context(), b.Options)
		install, ok := errors.AsType[*InstallError](err)
		if !ok || !strings.Contains(err.Error(), test.words) {
			t.Fatalf("%s: %#v", test.words, err)
		}
		if n := strings.Count(install.Output, "\n") + 1; n > 12 {
			t.Errorf("%d lines of output", n)
		}
		b.noEnvironment()
	}
}

func TestFind(t *testing.T) {
	ctx := t.Context()
	b := newBench(t)
	fail := func(venv bool, words ...string) {
		t.Helper()
		_, err := find(ctx, b.Env)
		none, ok := errors.AsType[*NoPythonError](err)
		if !ok || none.Venv != venv {
			t.Fatalf("%v", err)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v; want %s", err, w)
			}
		}
	}
	fail(false, "3.10")
	b.tool("python3.14", `echo "pyenv: python3.14: command not found" >&2; exit 127`)
	b.tool("python3.13", `echo hello`)
	b.tool("python3.12", strings.Replace(saying("3.10.14", "True", ""), "cpython", "pypy", 1))
	b.python("python", "3.9.18", "True", "")
	b.python("python3", "3.15.0", "True", "")
	fail(false, "command not found", "does not answer like Python", "is pypy", "python: is 3.9.18",
		"python3: is 3.15.0")
	b.python("python3.11", "3.11.2", "False", "")
	fail(true, "python3.11: is 3.11.2 without venv or ensurepip")
	path := b.python("python3.10", "3.10.1", "True", "")
	if got, err := find(ctx, b.Env); err != nil || got.Base != path || got.Version != "3.10.1" {
		t.Errorf("%+v %v", got, err)
	}
	// Later PATH entries are tried too: the first may be a shim that is not enabled.
	other := filepath.Join(t.TempDir(), "python3.14")
	ok(t, os.WriteFile(other, []byte("#!/bin/sh\n"+saying("3.14.0", "True", "/real")),
		0o755))
	if got, err := find(ctx, []string{"PATH=" + b.bin + ":" + filepath.Dir(other)}); err != nil ||
		got.Base != "/real" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	child := filepath.Join(t.TempDir(), "child")
	b.python("python3", "3.12.1", "True", `: >"$env/half"; sh -c 'trap "" INT; echo $$ >'"'"`+child+
		`"'"'; while :; do sleep 0.1; done' & wait`)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted by the user")
	pid := func() string {
		data, _ := os.ReadFile(child)
		return strings.TrimSpace(string(data))
	}
	go func() {
		for pid() == "" {
			time.Sleep(10 * time.Millisecond)
		}
		cancel(cause)
	}()
	if _, err := Ensure(ctx, b.Options); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	b.noEnvironment()
	stat := func() string {
		data, _ := os.ReadFile("/proc/" + pid() + "/stat")
		return string(data)
	}
	for end := time.Now().Add(time.Minute); stat() != "" &&
		!strings.Contains(stat(), ") Z "); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the installer's child lives: %s", stat())
		}
	}
}

// An environment without a complete marker, from a killed dsstar, is rebuilt, once the installer of
// that dsstar has ended.
func TestHalfAnEnvironment(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"no marker": func(dir string) error { return os.Remove(filepath.Join(dir, markerName)) },
		"half marker": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, markerName), []byte(`{"lock":`), 0o644)
		},
		"no python": func(dir string) error { return os.Remove(interpreter(dir)) },
	} {
		b := newBench(t)
		b.python("python3", "3.12.1", "True",
			`if mkdir "$LOG.first"; then (n=0
while [ ! -e "$LOG.go" ] && [ $n -lt 500 ]; do sleep .01; n=$((n+1)); done
echo ended >>"$LOG") >/dev/null 2>&1 & fi`)
		heard, log := b.Progress, strings.TrimPrefix(b.Env[1], "LOG=")
		b.Progress = func(line string) {
			if heard(line); strings.HasPrefix(line, "waiting for another") {
				ok(t, os.WriteFile(log+".go", nil, 0o600))
			}
		}
		dir := filepath.Dir(filepath.Dir(b.ensure()))
		stale := filepath.Join(dir, "stale")
		ok(t, errors.Join(spoil(dir), os.WriteFile(stale, nil, 0o644)))
		b.ensure()
		if _, err := os.Stat(stale); err == nil || strings.Count(b.log(), "venv\n") != 2 {
			t.Errorf("%s: the environment was not made anew: %s", name, b.log())
		}
		if log := b.log(); !strings.Contains(log[:strings.LastIndex(log, "venv\n")], "ended\n") {
			t.Errorf("%s: the second began before the first one's installer ended:\n%s", name, log)
		}
	}
}

func TestBaseChanges(t *testing.T) {
	b := newBench(t)
	b.python("python3.12", "3.12.1", "True", "")
	python := b.ensure()
	base := filepath.Join(b.bin, "python3.12")

	// Its target moved, as with a patch release: Ensure asks once and records it.
	moved := filepath.Join(b.bin, "moved")
	ok(t, errors.Join(os.Rename(base, moved), os.Symlink(moved, base)))
	b.ensure()
	if m, err := readMarker(filepath.Dir(filepath.Dir(python))); err != nil ||
		m.Target != resolve(moved) || strings.Count(b.log(), "venv\n") != 1 {
		t.Errorf("%+v %v; ran %s", m, err, b.log())
	}

	// Another minor version has its packages elsewhere, so the environment is rebuilt.
	ok(t, errors.Join(os.Remove(base), os.Rename(moved, base),
		os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(python)), "minor"), []byte(saying("3.13.0", "True", "")), 0o644)))
	b.ensure()
	if strings.Count(b.log(), "venv\n") != 2 {
		t.Errorf("an environment of another Python is used; ran %s", b.log())
	}

	// If it was removed, another one takes its place.
	ok(t, errors.Join(os.Remove(base)))
	b.python("python3", "3.13.0", "True", "")
	if again := b.ensure(); again == python {
		t.Error("an environment without its base is used")
	}
}

// TestOneAtATime: of several that need an environment one creates it. Those that wait say so, and can
// be cancelled.
func TestOneAtATime(t *testing.T) {
	b := newBench(t)
	b.python("python3", "3.12.1", "True", "")
	base, err := find(t.Context(), b.Env)
	ok(t, errors.Join(err, os.MkdirAll(b.Dir, 0o755)))
	held, err := lockFile(t.Context(), filepath.Join(b.Dir, envName(b.Lock, base)+".lock"), nil)
	ok(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause, waiting := errors.New("interrupted"), b.Options
	waiting.Progress = func(line string) {
		if strings.Contains(line, "waiting for another dsstar") {
			cancel(cause)
		}
	}
	if _, err := Ensure(ctx, waiting); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	held.Close()
	var wg sync.WaitGroup
	got := make([]string, 3)
	for i := range got {
		wg.Go(func() { got[i], _ = Ensure(t.Context(), b.Options) })
	}
	wg.Wait()
	if n := strings.Count(b.log(), "venv\n"); n != 1 || got[0] == "" || got[1] != got[0] || got[2] != got[0] {
		t.Errorf("made %d times: %q", n, got)
	}
}

// TestCheck: the user's python is a path relative to the current folder, or a name on PATH, of which
// only absolute entries count.
func TestCheck(t *testing.T) {
	b := newBench(t)
	b.tool("mine", saying("3.12.1", "True", "/real"))
	b.tool("loud", "echo broken >&2; exit 1")
	b.tool("mute", "")
	t.Chdir(filepath.Dir(b.bin))
	for _, c := range []struct{ python, env, want string }{
		{"bin/mine", b.Env[0], "/real"}, {"./bin/mine", b.Env[0], "/real"}, {"mine", b.Env[0], "/real"},
		{"mine", "PATH=bin:.", ""}, {"none", b.Env[0], ""}, {"bin/loud", b.Env[0], ""},
		{"bin/mute", b.Env[0], ""},
	} {
		got, err := Check(t.Context(), c.python, []string{c.env}, nil)
		if got.Path != c.want || (err == nil) != (c.want != "") ||
			err != nil && !strings.Contains(err.Error(), c.python) {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// Asking an interpreter, which is outside the sandbox, runs nothing from the current folder or
// PYTHONPATH: they may be a stranger's. Their modules are found all the same.
func TestAsksInIsolation(t *testing.T) {
	real, err := find(t.Context(), os.Environ())
	ok(t, err)
	dir := t.TempDir()
	for _, name := range []string{"contextlib", "types", "importlib", "sitecustomize", "usercustomize",
		"theirs"} {
		code := "open(" + strconv.Quote(filepath.Join(dir, "ran-"+name)) + ", 'w')\n"
		ok(t, os.WriteFile(filepath.Join(dir, name+".py"), []byte(code), 0o600))
	}
	t.Chdir(dir)
	env := append(os.Environ(), "PYTHONPATH=:.:"+dir)
	found, err := find(t.Context(), env)
	if err == nil {
		found, err = Check(t.Context(), real.Path, env, []string{"json", "venv", "theirs", "not_there"})
	}
	if err != nil || found.Version != real.Version || strings.Join(found.Missing, " ") != "not_there" {
		t.Errorf("%+v %v", found, err)
	}
	if ran, _ := filepath.Glob("ran-*"); len(ran) > 0 {
		t.Errorf("these ran: %q", ran)
	}
}

//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestIrregularFiles: what a stranger's folder has in the place of a file that dsstar reads is not waited for, nor read
// without end. It is an error that says which.
func TestIrregularFiles(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	kinds := map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	}
	data := dataFolder(t, numbers)
	commands := map[string][]string{ // by the file
		"dsstar.yaml":        {"config"},
		"a.ipynb":            {"rerun", "a.ipynb"},
		"b.ipynb":            {"export", "b.ipynb"},
		"c.ipynb":            {"resume", "c.ipynb"},
		"run/notebook.ipynb": {"rerun", "run"},
		"trace.jsonl":        {"trace", "trace.jsonl"},
		"replay.jsonl":       {"nb", "--data", data, "--model", "replay:replay.jsonl", "What?"},
		"bench.json":         {"bench", "score", "."},
	}
	for kind, put := range kinds {
		for file, args := range commands {
			dir := t.TempDir()
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			a, _, stderr := testApp(t)
			done := make(chan int, 1)
			go func() { done <- a.run(t.Context(), args) }()
			select {
			case code := <-done:
				if said := stderr.String(); code == 0 || !strings.Contains(said, file) && !strings.Contains(said, "/dev/zero") {
					t.Errorf("%v with a %s: exit code %d\n%s", args, kind, code, stderr)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%v waits for a %s", args, kind)
			}
		}
	}
}

// TestNamedPipes: what the user names on the command line may be a pipe, as of <(cmd), but has an end.
func TestNamedPipes(t *testing.T) {
	a, _, _ := testApp(t)
	for name, read := range map[string]func(arg string) (string, error){
		"guidelines": a.guidelines,
		"ids": func(arg string) (string, error) {
			ids, err := readIDs(arg)
			return strings.Join(ids, " "), err
		},
		"set": func(arg string) (string, error) {
			text, err := a.given(arg)
			return strings.TrimSpace(text), err
		},
	} {
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() { _ = os.WriteFile(pipe, []byte("a b\n"), 0) }() // waits for the reader
		if got, err := read("@" + pipe); err != nil || got != "a b" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := read("@/dev/zero"); err == nil || !strings.Contains(err.Error(), "/dev/zero") {
			t.Errorf("%s without end: %v", name, err)
		}
	}
}

package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/record"
	"dsstar/configs"
	"dsstar/kernel/pyenv/pyenvtest"
)

// TestBenchLends has tasks whose files are links, as a download's cache has them, or
// are not there.
func TestBenchLends(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	data := filepath.Join(cache, "snapshot", "data")
	if err := errors.Join(os.MkdirAll(data, 0o755), os.MkdirAll(filepath.Join(cache, "blobs"), 0o755),
		os.WriteFile(filepath.Join(cache, "blobs", "1f"), []byte("n\n1\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "..", "blobs", "1f"), filepath.Join(data, "a.csv")); err != nil {
		t.Skip(err)
	}
	task := bench.Task{ID: "a", Question: "q", Data: data, Files: []string{"a.csv"}}
	whole := task
	whole.Files = nil
	for _, of := range []bench.Task{task, whole} {
		if out := linksOut(of, nil); len(out) != 1 || filepath.Base(out[0]) != "1f" {
			t.Errorf("%v", out)
		}
		if out := linksOut(of, []string{filepath.Join(cache, "blobs")}); len(out) > 0 {
			t.Errorf("allowed: %v", out)
		}
	}
	for _, confined := range []bool{true, false} {
		folder := record.Folder(t.TempDir())
		if _, err := benchTask(t.Context(), task, folder, confined); err != nil {
			t.Fatal(err)
		}
		lent := filepath.Join(string(folder), "data", "a.csv")
		if text, err := os.ReadFile(lent); err != nil || string(text) != "n\n1\n" {
			t.Errorf("%q, %v", text, err)
		}
		a, errA := os.Stat(lent)
		b, errB := os.Stat(filepath.Join(cache, "blobs", "1f"))
		if err := errors.Join(errA, errB); err != nil || !confined && os.SameFile(a, b) {
			t.Errorf("%v: cells that nothing confines could write to the user's data", err)
		}
	}
	task.Files = []string{"a.csv", "none.csv"}
	var lacking *runner.LackingError
	if _, err := benchTask(t.Context(), task, record.Folder(t.TempDir()), true); !errors.As(err, &lacking) {
		t.Errorf("a file that is not there: %v", err)
	}
	task.Files = []string{}
	if _, err := benchTask(t.Context(), task, record.Folder(t.TempDir()), true); !errors.As(err, &lacking) {
		t.Errorf("no file: %v", err)
	}
}

// TestAsPublished has agents with published settings, which are recorded, and which
// the user's own go before.
func TestAsPublished(t *testing.T) {
	t.Parallel()
	load := func(flags map[string]configs.Flag) *configs.Settings {
		s, err := configs.Load(configs.Sources{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := load(nil)
	if set := asPublished("da-agent", s); s.Temperature == nil || *s.Temperature != 0 || s.CellTimeout != 310*time.Second ||
		set["temperature"] != "0" || set["cell_timeout"] != "5m10s" || !maps.Equal(set, publishedBy("da-agent")) {
		t.Errorf("%v, %v, %v", set, s.Temperature, s.CellTimeout)
	}
	if all := publishedBy("dsstar"); len(all) > 0 {
		t.Errorf("of dsstar: %v", all)
	}
	s = load(nil)
	if set := asPublished("autogen", s); s.Temperature != nil || s.CellTimeout != 310*time.Second || len(set) != 1 {
		t.Errorf("%v, %v, %v", set, s.Temperature, s.CellTimeout)
	}
	s = load(map[string]configs.Flag{"cell_timeout": {Name: "--cell-timeout", Value: time.Minute}, "temperature": {Name: "--temperature", Value: "0.5"}})
	if set := asPublished("da-agent", s); len(set) > 0 || *s.Temperature != 0.5 || s.CellTimeout != time.Minute {
		t.Errorf("%v, %v, %v", set, *s.Temperature, s.CellTimeout)
	}
}

// TestBenchServersAllWork has more servers than jobs: none is left without a task, and
// each is told to be outside the sandbox.
func TestBenchServersAllWork(t *testing.T) {
	t.Parallel()
	a, _, stderr := testApp(t)
	s, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	r := &benchRun{app: a.app, settings: s, progress: a.newProgress(false), flags: &benchFlags{
		jobs: 1, yes: true, servers: []string{"http://127.0.0.1:1/?token=hunter2", "http://127.0.0.1:2/"}}}
	err = r.findPlaces(t.Context())
	r.progress.stop()
	if err != nil || len(r.places) != 2 || r.flags.jobs != 2 {
		t.Errorf("%v, %d places, %d jobs", err, len(r.places), r.flags.jobs)
	}
	contains(t, stderr.String(), "sandbox  none (of a server): http://127.0.0.1:1/\n", "sandbox  none (of a server): http://127.0.0.1:2/\n")
	if strings.Contains(stderr.String(), "hunter2") {
		t.Errorf("the token is shown: %s", stderr)
	}
}

// TestBenchPythonBroughtDown has code of an agent's end or hold the kernel in which a
// scorer runs it: that is the code's fault, and told as such.
func TestBenchPythonBroughtDown(t *testing.T) {
	t.Parallel()
	a, _, _ := testApp(t)
	s, err := configs.Load(configs.Sources{Flags: map[string]configs.Flag{
		"python": {Name: "--python", Value: pyenvtest.Python(t)}, "cell_timeout": {Name: "--cell-timeout", Value: 2 * time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.place(t.Context(), s, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"import os\nos._exit(1)", "while True: pass", "raise SystemExit"} {
		_, err := a.benchPython(s, func(context.Context) (place, error) { return p, nil }, nil, "")(t.Context(), code)
		if _, ok := errors.AsType[*bench.CodeError](err); !ok {
			t.Errorf("%q: %T %v", code, err, err)
		}
	}
}

// TestScoringKernel keeps one kernel for many pieces of code, until one fails.
func TestScoringKernel(t *testing.T) {
	t.Parallel()
	a, _, _ := testApp(t)
	s, err := configs.Load(configs.Sources{Flags: map[string]configs.Flag{"python": {Name: "--python", Value: pyenvtest.Python(t)}}})
	if err != nil {
		t.Fatal(err)
	}
	k := a.scoringKernel(s, a.scoringPlace(s, func(error) {}), &bench.Suite{}, nil)
	defer k.close()
	for _, c := range []struct {
		code, want string
		failed     bool
	}{
		{"x = 7", "", false}, {"print(x)", "7\n", false}, {"import os; os._exit(1)", "", true}, {"print('x' in globals())", "False\n", false},
		{"1/0", "", true}, {"print(8)", "8\n", false},
	} {
		stdout, err := k.run(t.Context(), c.code)
		if _, failed := errors.AsType[*bench.CodeError](err); stdout != c.want || failed != c.failed || !failed && err != nil {
			t.Errorf("%s: %q, %v", c.code, stdout, err)
		}
	}
	dir := k.dir
	if k.close(); dir == "" {
		t.Error("the kernel had no folder")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
	k.close()
}

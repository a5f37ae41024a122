package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
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
		folder := agent.Folder(t.TempDir())
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
	if _, err := benchTask(t.Context(), task, agent.Folder(t.TempDir()), true); !errors.As(err, &lacking) {
		t.Errorf("a file that is not there: %v", err)
	}
	task.Files = []string{}
	if _, err := benchTask(t.Context(), task, agent.Folder(t.TempDir()), true); !errors.As(err, &lacking) {
		t.Errorf("no file: %v", err)
	}
}

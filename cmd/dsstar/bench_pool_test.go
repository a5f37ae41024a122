package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"

	"dsstar/agent/bench/runner"
	"dsstar/configs"
)

// TestBenchPool: a replay begins with the pool that the run began with, whatever was
// added since, and leaves the pool itself alone.
func TestBenchPool(t *testing.T) {
	dir := t.TempDir()
	pool := filepath.Join(dir, "experiences.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(pool, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(model, out string) (*benchFlags, error) {
		b := &benchFlags{out: filepath.Join(dir, out)}
		b.interpreter.Pool = pool
		about, err := b.about(pflag.NewFlagSet("", pflag.ContinueOnError), &configs.Settings{Model: model}, nil, &runner.About{Model: "some"})
		if err != nil {
			t.Fatal(err)
		}
		f, err := b.folder(about, nil)
		if err == nil {
			err = f.Close()
		}
		return b, err
	}
	write("first")
	b, err := begin("some", "run")
	if err != nil || b.options().Interpreter.Pool != pool {
		t.Fatalf("the pool is %s, %v", b.options().Interpreter.Pool, err)
	}
	write("grown")
	b, err = begin(replayPrefix+filepath.Join(dir, "run"), "again")
	if err != nil {
		t.Fatal(err)
	}
	if used, err := os.ReadFile(b.options().Interpreter.Pool); string(used) != "first" || b.options().Interpreter.Pool == pool {
		t.Errorf("the replay has %s: %q, %v", b.options().Interpreter.Pool, used, err)
	}
	if _, err = begin(replayPrefix+filepath.Join(dir, "again"), "third"); err != nil {
		t.Errorf("a replay is not replayed: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "run", poolBefore)); err != nil {
		t.Fatal(err)
	}
	if _, err = begin(replayPrefix+filepath.Join(dir, "run"), "fourth"); !errors.As(err, new(*usageError)) {
		t.Errorf("a run whose pool is not known: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "fourth")); err == nil {
		t.Error("what is refused leaves a folder")
	}
}

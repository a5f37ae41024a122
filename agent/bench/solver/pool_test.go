package solver

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestPoolOfReplay: a replay starts with the run's initial pool, without later additions, and
// does not change the pool itself.
func TestPoolOfReplay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "experiences.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(replayed, out string) (used string, err error) {
		p, out := Pool{File: file}, filepath.Join(dir, out)
		if replayed != "" {
			p.Replayed = filepath.Join(dir, replayed)
		}
		data, err := p.Read()
		if err != nil {
			return "", err
		}
		return p.In(out), errors.Join(os.MkdirAll(out, 0o755), p.Keep(out, data))
	}
	write("first")
	if used, err := begin("", "run"); err != nil || used != file {
		t.Fatalf("%s, %v", used, err)
	}
	write("grown")
	used, err := begin("run", "again")
	if text, _ := os.ReadFile(used); err != nil || string(text) != "first" || used == file {
		t.Errorf("the replay has %s: %q, %v", used, text, err)
	}
	if _, err = begin("again", "third"); err != nil {
		t.Errorf("a replay is not replayed: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "run", poolBefore)); err != nil {
		t.Fatal(err)
	}
	if _, err = begin("run", "fourth"); !errors.Is(err, ErrNoPool) {
		t.Errorf("a run whose pool is not known: %v", err)
	}
}

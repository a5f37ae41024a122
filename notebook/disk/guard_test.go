package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// sameJSON compares JSON values, whatever their white space.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// version is the n-th version of a file that is written again and again.
func version(n int) []byte { return fmt.Appendf(nil, "{\n \"n\": %d\n}\n", n) }

// flat is the same version in other bytes.
func flat(n int) []byte { return fmt.Appendf(nil, `{"n": %d}`, n) }

// edited is a version with a person's edit.
func edited(n int) []byte { return fmt.Appendf(nil, `{"n": %d, "mine": true}`, n) }

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// putWhole writes like an editor that renames a new file into place.
func putWhole(t *testing.T, path string, data []byte) {
	t.Helper()
	put(t, path+"~", data)
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %v, %d bytes, want %d:\n%.300s", filepath.Base(path), err, len(got), len(want), got)
	}
}

// alone checks that nothing but the named files is left in the folder of path.
func alone(t *testing.T, path string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != len(names) {
		t.Errorf("%v %v, want %v", err, entries, names)
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.json")
	g := Guard(path, sameJSON)
	write := func(n int) error { return g.Write(version(n)) }
	for n := range 4 {
		if err := write(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := write(4); err != nil { // deleted: written again
		t.Fatal(err)
	}
	put(t, path, version(3)) // an editor that was slow: no edit
	if err := write(5); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(6); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	put(t, path, edited(6))
	for range 2 {
		if err := write(7); !errors.Is(err, ErrEdited) {
			t.Fatal(err)
		}
		holds(t, path, edited(6))
	}
	put(t, filepath.Join(filepath.Dir(path), "file-2.json"), []byte("somebody's"))
	g.NextSibling()
	if err := write(7); err != nil || filepath.Base(g.Path()) != "file-3.json" {
		t.Fatal(err, g.Path())
	}
	holds(t, path, edited(6))
	holds(t, g.Path(), version(7))
	put(t, g.Path(), edited(7))
	g.NextSibling()
	if filepath.Base(g.Path()) != "file-4.json" {
		t.Error(g.Path())
	}
	alone(t, path, "file.json", "file-2.json", "file-3.json")

	other := Guard(path, sameJSON) // of a program that knows nothing of it
	if err := other.Write(version(1)); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
	other.Accept(edited(6))
	if err := other.Write(version(1)); err != nil {
		t.Error(err)
	}
}

// TestGuardMeanwhile edits at the worst moment: after the file was checked and
// before it is replaced.
func TestGuardMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.json")
	g := Guard(path, sameJSON)
	begin := func(n int) {
		g.meanwhile = nil
		_ = os.Remove(path)
		if err := g.Write(version(n)); err != nil {
			t.Fatal(err)
		}
	}
	for way, edit := range map[string]func(*testing.T, string, []byte){"in place": put, "renamed": putWhole} {
		begin(1)
		g.meanwhile = func() { edit(t, path, edited(1)) }
		if err := g.Write(version(2)); !errors.Is(err, ErrEdited) {
			t.Errorf("%s: %v", way, err)
		}
		holds(t, path, edited(1))
		begin(1)
		g.meanwhile = func() { edit(t, path, flat(1)) } // the same content in other bytes: no edit
		if err := g.Write(version(2)); err != nil {
			t.Errorf("%s: %v", way, err)
		}
		holds(t, path, version(2))
	}
	begin(1)
	g.meanwhile = func() { _ = os.Remove(path) }
	if err := g.Write(version(2)); err != nil {
		t.Error(err)
	}
	holds(t, path, version(2))
	// Made by somebody while it was missing.
	_ = os.Remove(path)
	g.meanwhile = func() { put(t, path, edited(3)) }
	if err := g.Write(version(4)); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
	holds(t, path, edited(3))
	alone(t, path, "file.json")
}

// TestGuardHalfWritten: Jupyter writes in place, so half a file is waited for.
func TestGuardHalfWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.json")
	g := Guard(path, func(a, b []byte) bool {
		if !json.Valid(b) {
			put(t, path, flat(1)) // the editor's next write
		}
		return sameJSON(a, b)
	})
	g.patience = time.Minute
	if err := g.Write(version(1)); err != nil {
		t.Fatal(err)
	}
	put(t, path, flat(1)[:4])
	if err := g.Write(version(2)); err != nil {
		t.Error(err)
	}
	holds(t, path, version(2))
	g.same, g.patience = sameJSON, 0
	put(t, path, flat(1)[:3]) // and nothing follows
	if err := g.Write(version(3)); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
}

package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

// must ends the test if there is an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// fails checks that an error wraps want, or that there is none if want is nil.
func fails(t *testing.T, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(path, data, 0o644))
}

// putWhole writes like an editor that renames a new file into place.
func putWhole(t *testing.T, path string, data []byte) {
	t.Helper()
	put(t, path+"~", data)
	must(t, os.Rename(path+"~", path))
}

func holds(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %v, %d bytes, want %d:\n%.300s", filepath.Base(path), err, len(got), len(want), got)
	}
}

// alone checks that nothing but the named files is in the folder of path.
func alone(t *testing.T, path string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	is := func(entry os.DirEntry, name string) bool { return entry.Name() == name }
	slices.Sort(names)
	if err != nil || !slices.EqualFunc(entries, names, is) {
		t.Errorf("%v %v, want %v", err, entries, names)
	}
}

// writes writes a version, for which want is the error; without one the file has it.
func writes(t *testing.T, g *Guarded, n int, want error) {
	t.Helper()
	fails(t, want, g.Write(version(n)))
	if want == nil {
		holds(t, g.Path(), version(n))
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.json")
	g := Guard(path, sameJSON)
	for n := range 4 {
		writes(t, g, n, nil)
	}
	must(t, os.Remove(path))
	writes(t, g, 4, nil)     // deleted: written again
	put(t, path, version(3)) // an editor that was slow: no edit
	writes(t, g, 5, nil)
	must(t, os.Chmod(path, 0o600))
	writes(t, g, 6, nil)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	put(t, path, edited(6))
	for range 2 {
		writes(t, g, 7, ErrEdited)
		holds(t, path, edited(6))
	}
	put(t, filepath.Join(filepath.Dir(path), "file-2.json"), []byte("somebody's"))
	g.NextSibling()
	writes(t, g, 7, nil)
	holds(t, path, edited(6))
	put(t, g.Path(), edited(7))
	g.NextSibling()
	if filepath.Base(g.Path()) != "file-4.json" {
		t.Error(g.Path())
	}
	alone(t, path, "file-2.json", "file-3.json", "file.json")

	other := Guard(path, sameJSON) // of a program that knows nothing of it
	writes(t, other, 1, ErrEdited)
	other.Accept(edited(6))
	writes(t, other, 1, nil)
}

// TestGuardMeanwhile edits at the worst moment: after the file was checked and
// before it is replaced.
func TestGuardMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.json")
	edit := func(data []byte) func() { return func() { put(t, path, data) } }
	editWhole := func(data []byte) func() { return func() { putWhole(t, path, data) } }
	g := Guard(path, sameJSON)
	for name, test := range map[string]struct {
		missing   bool
		meanwhile func()
		want      error
	}{
		"edited in place":          {false, edit(edited(1)), ErrEdited},
		"edited, renamed":          {false, editWhole(edited(1)), ErrEdited},
		"other bytes in place":     {false, edit(flat(1)), nil}, // the same content: no edit
		"other bytes, renamed":     {false, editWhole(flat(1)), nil},
		"removed":                  {false, func() { _ = os.Remove(path) }, nil},
		"made while it is missing": {true, edit(edited(1)), ErrEdited},
	} {
		t.Run(name, func(t *testing.T) {
			g.meanwhile = nil
			_ = os.Remove(path)
			writes(t, g, 1, nil)
			if test.missing {
				must(t, os.Remove(path))
			}
			g.meanwhile = test.meanwhile
			writes(t, g, 2, test.want)
			if test.want != nil {
				holds(t, path, edited(1))
			}
			alone(t, path, "file.json")
		})
	}
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
	writes(t, g, 1, nil)
	put(t, path, flat(1)[:4])
	writes(t, g, 2, nil)
	g.same, g.patience = sameJSON, 0
	put(t, path, flat(1)[:3]) // and nothing follows
	writes(t, g, 3, ErrEdited)
}

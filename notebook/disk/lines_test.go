package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dsstar/notebook/disk"
)

// TestLines: a last line that a crash has cut is not read, and does not spoil the next one; any other
// that is no JSON is an error.
func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	read := func() []string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := disk.ReadLines[string](text)
		if err != nil {
			t.Error(err)
		}
		return all
	}
	if err := os.WriteFile(path, []byte("\"a\"\n\n\"b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("cut: %q", got)
	}
	lines, err := disk.OpenLines(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := lines.Append("<c>"); err != nil {
		t.Fatal(err)
	}
	if lines.Append(func() {}) == nil || lines.Close() != nil || lines.Close() != nil || lines.Append("d") == nil {
		t.Error("what is no data is added, or something after the end")
	}
	if got := read(); !slices.Equal(got, []string{"a", "<c>"}) {
		t.Errorf("added to: %q", got)
	}
	if all, err := disk.ReadLines[string]([]byte("\"a\"\nb\n")); err == nil {
		t.Errorf("a bad line inside: %q", all)
	}
}

// TestLongLines: a file of any length is added to, whose last line a crash has cut.
func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	const size, want = 300 << 20, "\n\"a\"\n\"c\"\n"
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.WriteAt([]byte("\n\"a\"\n\"b"), size)
	lines, openErr := disk.OpenLines(path)
	if err = errors.Join(err, openErr); err == nil {
		err = errors.Join(lines.Append("c"), lines.Close())
	}
	end := make([]byte, len(want)+1)
	if n, _ := f.ReadAt(end, size); err != nil || string(end[:n]) != want {
		t.Errorf("%q, %v", end[:n], err)
	}
}

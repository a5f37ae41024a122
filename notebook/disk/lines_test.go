package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLines: a last line that a crash has cut is not read, and does not spoil the next one; any other
// that is no JSON is an error.
func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	holds := func(want ...string) {
		t.Helper()
		text, err := os.ReadFile(path)
		all, readErr := ReadLines[string](text)
		if err := errors.Join(err, readErr); err != nil || !slices.Equal(all, want) {
			t.Errorf("%q, %v; want %q", all, err, want)
		}
	}
	put(t, path, []byte("\"a\"\n\n\"b"))
	holds("a")
	lines, err := OpenLines(path)
	must(t, err)
	must(t, lines.Append("<c>"))
	if lines.Append(func() {}) == nil || lines.Close() != nil || lines.Close() != nil || lines.Append("d") == nil {
		t.Error("what is no data is added, or something after the end")
	}
	holds("a", "<c>")
	if all, err := ReadLines[string]([]byte("\"a\"\nb\n")); err == nil {
		t.Errorf("a bad line inside: %q", all)
	}
}

// TestLongLines: a file of any length is added to, whose last line a crash has cut.
func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	const size, want = 300 << 20, "\n\"a\"\n\"c\"\n"
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("\n\"a\"\n\"b"), size)
	must(t, err)
	lines, err := OpenLines(path)
	must(t, err)
	must(t, lines.Append("c"), lines.Close())
	end := make([]byte, len(want)+1)
	if n, _ := f.ReadAt(end, size); string(end[:n]) != want {
		t.Errorf("%q", end[:n])
	}
}

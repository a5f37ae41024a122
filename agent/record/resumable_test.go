package record

import (
	"strings"
	"testing"

	"dsstar/agent/files"
)

// TestDataChanges: of files that the model is shown, name, size, content and companions count; of
// the others, how many there are and what they hold.
func TestDataChanges(t *testing.T) {
	wal := func(size int64) File {
		return File{Name: "c.db", Size: 1, With: []files.Companion{{Name: "c.db-wal", Size: size}}}
	}
	a, b, rest := File{Name: "a.csv", Size: 10}, File{Name: "b.csv", Size: 20, Sum: "x"}, File{Name: "rest", Size: 1, Sum: "x"}
	run := &Trajectory{Task: Task{Files: []File{a, b, wal(30)}, Others: 1, Rest: files.Digest([]File{rest})}}
	for _, c := range []struct {
		what string
		now  []File
	}{
		{"", []File{b, a, wal(30), rest}},
		{"a.csv or", []File{{Name: "a.csv", Size: 11}, b, wal(30), rest}},
		{"b.csv or", []File{a, {Name: "b.csv", Size: 20, Sum: "y"}, wal(30), rest}},
		{"b.csv is not there", []File{a, wal(30), rest, rest}},
		{"there are 3 files", []File{a, b, wal(30)}},
		{"c.db or", []File{a, b, {Name: "c.db", Size: 1}, rest}},
		{"c.db or", []File{a, b, wal(31), rest}},
		{"a file that the model", []File{a, b, wal(30), {Name: "rest", Size: 1, Sum: "y"}}},
		{"a file that the model", []File{a, b, wal(30), {Name: "rest", Size: 2, Sum: "x"}}},
		{"a file that the model", []File{a, b, wal(30), {Name: "other", Size: 1, Sum: "x"}}},
	} {
		if got := run.DataChanges(c.now); !strings.Contains(got, c.what) || c.what == "" && got != "" {
			t.Errorf("%q instead of %q", got, c.what)
		}
	}
}

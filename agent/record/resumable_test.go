package record

import (
	"strings"
	"testing"

	"dsstar/agent/files"
)

func wal(size int64) []files.Companion { return []files.Companion{{Name: "c.db-wal", Size: size}} }

func TestDataChanges(t *testing.T) {
	described := &Trajectory{Task: Task{Files: []File{{Name: "a.csv", Size: 10},
		{Name: "b.csv", Size: 20}, {Name: "c.db", Size: 1, With: wal(30)}}, Others: 1}}
	other, db := File{Name: "other", Size: 1}, File{Name: "c.db", Size: 1, With: wal(30)}
	closed, grown := File{Name: "c.db", Size: 1}, File{Name: "c.db", Size: 1, With: wal(31)}
	for what, now := range map[string][]File{
		"":                      {{Name: "a.csv", Size: 10}, {Name: "b.csv", Size: 20}, db, other},
		"a.csv has 11 bytes":    {{Name: "a.csv", Size: 11}, {Name: "b.csv", Size: 20}, db, other},
		"b.csv is not there":    {{Name: "a.csv", Size: 10}, db, other, other},
		"there are 3 files":     {{Name: "a.csv", Size: 10}, {Name: "b.csv", Size: 20}, db},
		"c.db has 1 byte, not":  {{Name: "a.csv", Size: 10}, {Name: "b.csv", Size: 20}, closed, other},
		`with "c.db-wal" of 31`: {{Name: "a.csv", Size: 10}, {Name: "b.csv", Size: 20}, grown, other},
	} {
		if got := described.DataChanges(now); !strings.Contains(got, what) || what == "" && got != "" {
			t.Errorf("%q instead of %q", got, what)
		}
	}
}

// TestRestChanges: of the files that the model is not shown, name, size and content count.
func TestRestChanges(t *testing.T) {
	was := []File{{Name: "b", Size: 1, Sum: "x"}, {Name: "c", Size: 1}}
	tr := &Trajectory{Task: Task{Files: []File{{Name: "a", Size: 1}}, Others: 2, Rest: files.Digest(was)}}
	for _, c := range []struct {
		b       File
		changed bool
	}{{was[0], false}, {File{Name: "b", Size: 1, Sum: "y"}, true}, {File{Name: "b", Size: 2, Sum: "x"}, true},
		{File{Name: "d", Size: 1, Sum: "x"}, true}} {
		if got := tr.DataChanges([]File{was[1], {Name: "a", Size: 1}, c.b}); (got != "") != c.changed {
			t.Errorf("%+v: %q", c.b, got)
		}
	}
}

package record

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/agent/files"
	"dsstar/notebook"
)

// TestAt: a round begins with the plan as it was then, whatever became of it.
func TestAt(t *testing.T) {
	run := New(Task{Data: "/data"}, Question{Final: &Final{Derived: Derived{Attempts: Left("print(1)")}}})
	for _, r := range []struct {
		name   string
		failed bool
		back   int
	}{{name: "a"}, {name: "b"}, {name: "c", back: 2}, {"d", true, 2}, {name: "e"}, {name: "f"}} {
		round := run.Begin(r.name)
		round.Attempts = slices.Concat(Left(r.name+"?"), Left(r.name))
		round.Attempts[0].Execution.Status = notebook.Raised
		if r.failed {
			round.Attempts = round.Attempts[:1]
		}
		run.Take(Route{Back: r.back})
	}
	for i, want := range [][]string{{}, {"a"}, {"a", "b"}, {"a"}, {"a"}, {"a", "e"}} {
		r, cells, found := run.At(i + 1)
		if !found || len(cells) < 2 || !slices.Equal(cells[2:], want) ||
			cells[0] != "data_dir = \"/data\"\nquestion = \"\"" || len(r.Attempts) != len(run.Rounds[i].Attempts) {
			t.Errorf("round %d: %q, want %q; %d attempts", i+1, cells, want, len(r.Attempts))
		}
	}
	run.Method.Script = true // every script runs on its own
	if _, cells, _ := run.At(3); len(cells) != 2 {
		t.Errorf("of scripts: %q", cells)
	}
}

// TestDataChanges: of files that the model is shown, name, size, content and companions count; of
// the others, how many there are and what they hold.
func TestDataChanges(t *testing.T) {
	wal := func(size int64) File { return File{Name: "c.db", Size: 1 + size} }
	a, b, rest := File{Name: "a.csv", Size: 10}, File{Name: "b.csv", Size: 20, Sum: "x"}, File{Name: "rest", Size: 1, Sum: "x"}
	run := &Trajectory{Task: Task{Files: []File{a, b, wal(30)}, Others: 1, Rest: files.Digest([]File{rest})}}
	for _, c := range []struct {
		what string
		now  []File
	}{
		{"", []File{b, a, wal(30), rest}},
		{"a.csv or", []File{{Name: "a.csv", Size: 11}, b, wal(30), rest}},
		{"b.csv or", []File{a, {Name: "b.csv", Size: 20, Sum: "y"}, wal(30), rest}},
		{"there are other", []File{a, wal(30), rest, rest}},
		{"there are other", []File{a, b, wal(30)}},
		{"c.db or", []File{a, b, {Name: "c.db", Size: 1}, rest}},
		{"c.db or", []File{a, b, wal(31), rest}},
		{"there are other", []File{a, b, wal(30), {Name: "rest", Size: 1, Sum: "y"}}},
		{"there are other", []File{a, b, wal(30), {Name: "rest", Size: 2, Sum: "x"}}},
		{"there are other", []File{a, b, wal(30), {Name: "other", Size: 1, Sum: "x"}}},
	} {
		if got := run.DataChanges(c.now); !strings.Contains(got, c.what) || c.what == "" && got != "" {
			t.Errorf("%q instead of %q", got, c.what)
		}
	}
}

// TestFolders: a run's folder has the date and the first words of the question in its name. What is
// there is not taken, also by runs at the same time.
func TestFolders(t *testing.T) {
	base, now := t.TempDir(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	t.Chdir(base)
	for question, want := range map[string]string{
		"  Wie groß ist die Ähre?": "wie-groß-ist-die-ähre",
		"../../etc/passwd":         "etc-passwd",
		"":                         "question",
		"What is the average fee that each merchant pays": "what-is-the-average-fee-that-each-mercha",
	} {
		f, err := NewFolder("new/runs", question, now)
		info, statErr := os.Stat(f.Files())
		if want = "2026-11-21-" + want; err != nil || filepath.Base(string(f)) != want ||
			!filepath.IsAbs(string(f)) || statErr != nil || !info.IsDir() {
			t.Errorf("%q: %q, %v, %v", question, f, err, statErr)
		}
	}
	var got sync.Map
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			f, err := NewFolder("new/runs", "How many?", now)
			if _, taken := got.LoadOrStore(f, true); err != nil || taken {
				t.Errorf("%s: taken %v, %v", f, taken, err)
			}
		})
	}
	g.Wait()
	if _, err := os.Stat("new/runs/2026-11-21-how-many-8"); err != nil {
		t.Error(err)
	}
	if _, err := CreateFolder(base); !errors.Is(err, ErrInUse) {
		t.Errorf("a folder that is not empty: %v", err)
	}
	if err := os.WriteFile("mine.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateFolder("mine.txt"); err == nil {
		t.Error("a file was taken for a folder")
	}
}

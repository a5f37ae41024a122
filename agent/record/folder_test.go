package record

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

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

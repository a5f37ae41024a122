package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

func TestSlug(t *testing.T) {
	for question, want := range map[string]string{
		"  Wie groß ist die Ähre?": "wie-groß-ist-die-ähre",
		"../../etc/passwd":         "etc-passwd",
		"":                         "question",
		"What is the average fee that each merchant pays": "what-is-the-average-fee-that-each-mercha",
		strings.Repeat("x", 100):                          strings.Repeat("x", 40),
	} {
		if got := slug(question); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// TestFolders: runs at the same time, of the same question, get folders of their own, and only one gets
// a folder that is named; what is there is not taken.
func TestFolders(t *testing.T) {
	base, now := t.TempDir(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	t.Chdir(base)
	var got, won sync.Map
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			f, err := NewFolder("new/runs", "How many?", now)
			if _, taken := got.LoadOrStore(filepath.Base(string(f)), true); err != nil || taken {
				t.Errorf("%s: taken %v, %v", f, taken, err)
			}
			if info, err := os.Stat(f.Files()); err != nil || !info.IsDir() {
				t.Errorf("%s: %v", f.Files(), err)
			}
			if f, err := CreateFolder("deep/er"); err == nil && filepath.IsAbs(string(f)) {
				if _, again := won.LoadOrStore("", f); again {
					t.Error("two runs have one folder")
				}
			}
		})
	}
	g.Wait()
	for _, name := range []string{"2026-11-21-how-many", "2026-11-21-how-many-2", "2026-11-21-how-many-8"} {
		if _, ok := got.Load(name); !ok {
			t.Errorf("no folder %s", name)
		}
	}
	if _, ok := won.Load(""); !ok {
		t.Error("no run got the folder")
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

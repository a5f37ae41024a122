package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

func TestSlug(t *testing.T) {
	for question, want := range map[string]string{
		"  Wie groß ist die Ähre?": "wie-groß-ist-die-ähre",
		"../../etc/passwd":         "etc-passwd",
		"":                         "question",
		"What is the average fee that each merchant pays": "what-is-the-average-fee-that-each",
		strings.Repeat("x", 100):                          strings.Repeat("x", 40),
	} {
		if got := slug(question); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// Runs at the same time, of the same question, get folders of their own.
func TestNewFolder(t *testing.T) {
	base, now := filepath.Join(t.TempDir(), "new", "runs"),
		time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var got sync.Map
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			f, err := NewFolder(base, "How many?", now)
			if _, taken := got.LoadOrStore(f, true); err != nil || taken {
				t.Errorf("%s: taken %v, %v", f, taken, err)
			}
		})
	}
	g.Wait()
	for _, name := range []string{"2026-11-21-how-many", "2026-11-21-how-many-2",
		"2026-11-21-how-many-8"} {
		f := Folder(filepath.Join(base, name))
		if _, ok := got.Load(f); !ok {
			t.Errorf("no folder %s", f)
		}
		if info, err := os.Stat(f.Files()); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", f.Files(), err)
		}
	}
}

func TestCreateFolder(t *testing.T) {
	base := t.TempDir()
	t.Chdir(base)
	if err := os.WriteFile("mine.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateFolder(base); !errors.Is(err, ErrInUse) {
		t.Errorf("a folder that is not empty: %v", err)
	}
	if _, err := CreateFolder("mine.txt"); err == nil {
		t.Error("a file was taken for a folder")
	}
	f, err := CreateFolder("deep/er")
	if err != nil || !filepath.IsAbs(string(f)) {
		t.Fatalf("got %q, %v", f, err)
	}
	if _, err := CreateFolder("deep/er"); !errors.Is(err, ErrInUse) {
		t.Errorf("a second run in a folder: %v", err)
	}
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := CreateFolder("one"); err == nil {
				won.Add(1)
			}
		})
	}
	if all.Wait(); won.Load() != 1 {
		t.Errorf("%d runs got the same folder", won.Load())
	}
}

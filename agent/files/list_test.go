package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	base := t.TempDir()
	data := filepath.Join(base, "data")
	for _, name := range []string{
		"b.csv", "a b's \"x\".csv", "deep/er/c.json", "empty.txt", "é.csv", "files/kept.csv", // files/ alone is no run
		".hidden", ".git/config", "deep/.ipynb_checkpoints/x.ipynb", "__pycache__/x.pyc",
		"dsstar-runs/1/notebook.ipynb", "dsstar-runs/1/trace.jsonl", "dsstar-runs/1/files/out.csv",
	} {
		write(t, filepath.Join(data, name), strings.Repeat("x", len(name)*min(1, strings.Count(name, "."))))
	}
	write(t, filepath.Join(data, "empty.txt"), "")
	write(t, filepath.Join(base, "far.csv"), "12345")
	for link, to := range map[string]string{"link.csv": "../far.csv", "broken.csv": "nowhere", "folder": "deep", "loop": ".", "../linked": "data"} {
		if err := os.Symlink(to, filepath.Join(data, link)); err != nil {
			t.Skip("links cannot be made here: ", err) // Windows without the right to
		}
	}
	want := []File{
		{`a b's "x".csv`, 13}, {"b.csv", 5}, {"deep/er/c.json", 14}, {"empty.txt", 0}, {"files/kept.csv", 14}, {"link.csv", 5}, {"é.csv", 6},
	}
	for _, folder := range []string{data, filepath.Join(base, "linked"), data + "/deep/.."} {
		if got, _, err := List(t.Context(), folder); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got  %v, %v\nwant %v", folder, got, err, want)
		}
	}
	if got, _, err := List(t.Context(), filepath.Join(data, ".git")); err != nil || len(got) != 1 {
		t.Errorf("a folder that is hidden itself: %v, %v", got, err)
	}
	if _, _, err := List(t.Context(), filepath.Join(data, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := List(ended, data); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}

// Old archives have names in other encodings; they are listed, and can be read.
func TestForeignNames(t *testing.T) {
	data := t.TempDir()
	if runtime.GOOS != "linux" || os.Mkdir(filepath.Join(data, "Stra\xdfe"), 0o755) != nil {
		t.Skip("names are UTF-8 here")
	}
	want := []File{{"Stra\xdfe/\xe9_1.txt", 1}}
	write(t, filepath.Join(data, want[0].Name), "x")
	got, _, err := List(t.Context(), data)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, %v", got, err)
	}
	if look, err := LookAt(openRoot(t, data), want[0], 10); err != nil || look.Head != "x" || !utf8.ValidString(look.Shape) {
		t.Errorf("got %+v, %v", look, err)
	}
}

func TestListUnread(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "closed", "x.csv"), "x")
	write(t, filepath.Join(data, "y.csv"), "y")
	if err := os.Chmod(filepath.Join(data, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(data, "closed"), 0o700) })
	if _, err := os.ReadDir(filepath.Join(data, "closed")); err == nil {
		t.Skip("this user reads everything")
	}
	got, unread, err := List(t.Context(), data)
	if err != nil || len(got) != 1 || !reflect.DeepEqual(unread, []string{"closed"}) {
		t.Errorf("got %v, %v, %v", got, unread, err)
	}
}

func BenchmarkList(b *testing.B) {
	const files = 100_000
	data := b.TempDir()
	for i := range files {
		dir := filepath.Join(data, fmt.Sprint(i%10), fmt.Sprint(i/10%100))
		if i < 1000 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.csv", i))); err != nil || f.Close() != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if got, _, err := List(b.Context(), data); err != nil || len(got) != files {
			b.Fatal(len(got), err)
		}
	}
}

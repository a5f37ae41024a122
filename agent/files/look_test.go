package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

func encoded(t testing.TB, s, how string) string {
	t.Helper()
	encoders := map[string]interface{ String(string) (string, error) }{
		"16le+": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(),
		"16be+": unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder(),
		"1252":  charmap.Windows1252.NewEncoder(),
	}
	out, err := encoders[how].String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLookAt(t *testing.T) {
	const table = "name,size\nGröße,1\nÄhre,2\nOlé,3\n"
	for _, c := range []struct {
		name, content string
		most          int64
		want          Look
	}{
		{"a.csv", "", 10, Look{Kind: "text", Whole: true}},
		{"a.csv", table, 100, Look{Kind: "text", Text: table, Whole: true}},
		{"a.csv", "\uFEFF" + table, 100, Look{Kind: "text, UTF-8 with BOM", Text: table, Whole: true}},
		{"a.tsv", encoded(t, table, "16le+"), 100, Look{Kind: "text, UTF-16", Text: table, Whole: true}},
		{"a.csv", encoded(t, table, "16be+"), 22, Look{Kind: "text, UTF-16", Text: "name,size\n"}},
		{"a.csv", encoded(t, table, "1252"), 100, Look{Kind: "text, not in UTF-8", Text: table, Whole: true}},
		{"a.txt", "aaa\nbbb\nccc", 8, Look{Kind: "text", Text: "aaa\nbbb\n"}},
		{"a.json", strings.Repeat("é", 1<<20), 5, Look{Kind: "text", Text: "éé"}},
		{"a.pdf", "%PDF-1.7\n1 0 obj", 10, Look{Kind: "binary"}},
		{"a.png", "\x89PNG\r\n\x1a\n\x00", 10, Look{Kind: "binary"}},
		{"a", "\x00\x01\x02\x03\x04\xfe", 10, Look{Kind: "binary"}},
	} {
		data := t.TempDir()
		write(t, filepath.Join(data, c.name), c.content)
		if look, err := In(data).Look(c.name, c.most); err != nil || look != c.want {
			t.Errorf("%s, %d bytes: got %+v, %v, want %+v", c.name, c.most, look, err, c.want)
		}
	}
}

// A file may be a link within the folder or to what the user has named; other targets are not
// read.
func TestLinks(t *testing.T) {
	base := t.TempDir()
	data, far := filepath.Join(base, "data"), filepath.Join(base, "far", "far.csv")
	write(t, filepath.Join(data, "sub", "a.csv"), "a,b\n1,2\n")
	write(t, far, "a,b\n1,2\n")
	write(t, filepath.Join(base, "data2", "b.csv"), "a,b\n1,2\n")
	for link, to := range map[string]string{
		"data/near.csv": "sub/a.csv", "data/whole.csv": filepath.Join(data, "sub", "a.csv"),
		"data/again.csv": "../linked/near.csv", "linked": "data",
		"data/far.csv": "../far/far.csv", "data/farther.csv": "../link.csv", "link.csv": far,
		"data/beside.csv": "../data2/b.csv",
		"data/broken.csv": "nowhere", "data/out": "../far", "data/pipe": "/dev/null",
	} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	for _, c := range []struct {
		name    string
		also    []string
		ok      bool
		outside bool // that is the error
	}{
		{"near.csv", nil, true, false},
		{"whole.csv", nil, true, false},
		{"again.csv", nil, true, false},
		{"far.csv", nil, false, true},
		{"farther.csv", nil, false, true},
		{"beside.csv", []string{data}, false, true},
		{"far.csv", []string{filepath.Join(base, "far")}, true, false},
		{"far.csv", []string{filepath.Join(base, "nowhere"), far}, true, false},
		{"farther.csv", []string{filepath.Join(base, "link.csv")}, true, false},
		{"far.csv", []string{filepath.Join(base, "fa"), filepath.Join(base, "data2")}, false, true},
		{"broken.csv", []string{"/"}, false, false},
		{"pipe", []string{"/"}, false, false},
		{"out/far.csv", []string{base}, true, false},
		{"out/far.csv", nil, false, true},
		{"../far/far.csv", []string{base}, false, false},
		{".", nil, false, false},
	} {
		root := In(filepath.Join(base, "linked"), c.also...)
		look, err := root.Look(c.name, 10)
		if (err == nil) != c.ok || c.ok && look.Kind != "text" || errors.Is(err, ErrOutside) != c.outside {
			t.Errorf("look at %s, also %s: %+v, %v", c.name, c.also, look, err)
		}
		if sum, err := root.Sum(c.name); (err == nil) != c.ok || c.ok && len(sum) != 64 {
			t.Errorf("sum of %s: %s, %v", c.name, sum, err)
		}
	}
}

// TestSwapped: a folder in whose place somebody puts a link, after its file was found, leads nowhere.
func TestSwapped(t *testing.T) {
	data, far := t.TempDir(), t.TempDir()
	write(t, filepath.Join(data, "sub", "a.csv"), "a,b\n1,2\n")
	write(t, filepath.Join(far, "a.csv"), "secret")
	folder := In(data)
	at, err := folder.Find("sub/a.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{true, false} {
		file, err := folder.open(at)
		if (err == nil) != there {
			t.Errorf("as it was found %v: %v", there, err)
		}
		if err == nil {
			_ = file.Close()
		}
		sub := filepath.Join(data, "sub")
		if err := errors.Join(os.RemoveAll(sub), os.Symlink(far, sub)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSum(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "a"), "abc")
	root := In(data)
	if got, err := root.Sum("a"); err != nil ||
		got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("got %s, %v", got, err)
	}
	// A large file is sampled; being sparse, it takes no space.
	big, date := filepath.Join(data, "big"), time.Unix(1e9, 0)
	sum := func(size int64, at int64) string {
		t.Helper()
		f, err := os.Create(big)
		if err == nil {
			err = f.Truncate(size)
		}
		if err == nil && at >= 0 {
			_, err = f.WriteAt([]byte("x"), at)
		}
		if err == nil {
			err = f.Close()
		}
		if err == nil {
			err = os.Chtimes(big, date, date)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := root.Sum("big")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const size = 1 << 30
	seen := map[string]bool{sum(size, -1): true, sum(size, 0): true, sum(size, size-1): true,
		sum(size+1, -1): true, sum(sumWhole, -1): true}
	if same := sum(size, -1); len(seen) != 5 || !seen[same] {
		t.Errorf("sums: %v, and again %s", seen, same)
	}
	if date = date.Add(time.Second); seen[sum(size, -1)] {
		t.Error("the date is not in the sum")
	}
}

// TestSums: the names of a run's data folder have the sums of the files that they lead to.
func TestSums(t *testing.T) {
	data, run := t.TempDir(), t.TempDir()
	want := map[string]string{"a.csv": "1", "in/a.csv": "2", "in/deep/b.csv": "3"}
	for name, text := range want {
		write(t, filepath.Join(data, name), text)
		want[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	sources := []Source{{Name: "a.csv", Path: filepath.Join(data, "a.csv")},
		{Name: "in", Path: filepath.Join(data, "in")}, {Name: "db" + DatabaseEnding, Database: "sqlite://"}}
	l, err := List(t.Context(), sources, nil)
	if _, linkErr := Link(run, "data", sources, nil); errors.Join(err, linkErr) != nil {
		t.Fatal(err, linkErr)
	}
	gone := append(l.Files, File{Name: "in/gone.csv"})
	if got := Sums(sources, gone); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for i, s := range sources {
		sources[i].Path = filepath.Join(run, "data", s.Name)
	}
	if got := Sums(sources, gone); !maps.Equal(got, want) {
		t.Errorf("in a run: got %v, want %v", got, want)
	}
}

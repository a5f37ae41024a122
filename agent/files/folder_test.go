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
)

// write writes a file into a folder, and returns its path.
func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	at := filepath.Join(dir, name)
	check(t, os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o644))
	return at
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// links makes links in a folder, by their names.
func links(t *testing.T, dir string, to map[string]string) {
	t.Helper()
	for link, to := range to {
		check(t, os.Symlink(to, filepath.Join(dir, link)))
	}
}

func TestText(t *testing.T) {
	const wide = "a\x00,\x00\xe9\x00\n\x00" // a,é and the end of a line in UTF-16
	for _, c := range []struct {
		content string
		most    int64
		text    string
		whole   bool
	}{
		{"", 10, "", true},
		{"a,é\n", 100, "a,é\n", true},
		{"\uFEFFa,é\n", 100, "a,é\n", true},
		{"\xff\xfe" + wide, 100, "a,é\n", true},
		{"\xfe\xff\x00a\x00,\x00\xe9", 6, "a,", false},
		{"a,\xe9\n", 100, "a,é\n", true},
		{"aaa\nbbb\nccc", 8, "aaa\nbbb\n", false},
		{strings.Repeat("é", 1<<20), 5, "éé", false},
		{"%PDF-1.7\n1 0 obj", 100, "", true},
		{"\x89PNG\r\n\x1a\n\x00", 100, "", true},
	} {
		data := t.TempDir()
		write(t, data, "a", c.content)
		if text, whole, err := In(data).Text("a", c.most); err != nil || text != c.text || whole != c.whole {
			t.Errorf("%.20q, %d bytes: got %q, %v, %v", c.content, c.most, text, whole, err)
		}
	}
}

// A file may be a link within the folder or to what the user has named; other targets are not
// read.
func TestLinks(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"data/sub/a.csv", "far/far.csv", "data2/b.csv"} {
		write(t, base, name, "a,b\n1,2\n")
	}
	links(t, base, map[string]string{
		"data/near.csv": "sub/a.csv", "data/whole.csv": filepath.Join(base, "data/sub/a.csv"),
		"data/again.csv": "../linked/near.csv", "linked": "data",
		"data/far.csv": "../far/far.csv", "data/farther.csv": "../link.csv", "link.csv": filepath.Join(base, "far/far.csv"),
		"data/beside.csv": "../data2/b.csv",
		"data/broken.csv": "nowhere", "data/out": "../far", "data/pipe": "/dev/null",
	})
	const read, outside, fails = "read", "outside", "fails"
	for _, c := range []struct{ name, also, want string }{ // also is below base
		{"near.csv", "", read}, {"whole.csv", "", read}, {"again.csv", "", read},
		{"far.csv", "", outside}, {"farther.csv", "", outside}, {"beside.csv", "data", outside},
		{"far.csv", "far", read}, {"far.csv", "nowhere far/far.csv", read}, {"farther.csv", "link.csv", read},
		{"far.csv", "fa data2", outside}, {"broken.csv", "/", fails}, {"pipe", "/", fails},
		{"out/far.csv", ".", read}, {"out/far.csv", "", outside}, {"../far/far.csv", ".", fails}, {".", "", fails},
	} {
		also := strings.Fields(c.also)
		for i, name := range also {
			if also[i] = filepath.Join(base, name); name == "/" {
				also[i] = name
			}
		}
		root := In(filepath.Join(base, "linked"), also...)
		text, _, err := root.Text(c.name, 10)
		sum, sumErr := root.Sum(c.name)
		got := map[bool]string{true: outside, false: fails}[errors.Is(err, ErrOutside)]
		if err == nil && text != "" && len(sum) == 64 {
			got = read
		}
		if got != c.want || (sumErr == nil) != (err == nil) {
			t.Errorf("%s, also %s: %s, %v, %v", c.name, c.also, got, err, sumErr)
		}
	}
}

// TestSwapped: a folder in whose place somebody puts a link, after its file was found, leads nowhere.
func TestSwapped(t *testing.T) {
	data, far := t.TempDir(), t.TempDir()
	sub := filepath.Dir(write(t, data, "sub/a.csv", "a,b\n1,2\n"))
	write(t, far, "a.csv", "secret")
	folder := In(data)
	at, err := folder.Find("sub/a.csv")
	check(t, err)
	file, err := folder.open(at)
	check(t, err, file.Close(), os.RemoveAll(sub), os.Symlink(far, sub))
	if _, err := folder.open(at); err == nil {
		t.Error("it is opened where the link leads")
	}
}

func TestSum(t *testing.T) {
	data := t.TempDir()
	root, date := In(data), time.Unix(1e9, 0)
	sum := func(size int64, at int64) string { // of a sparse file with one letter
		t.Helper()
		f, err := os.Create(filepath.Join(data, "big"))
		check(t, err, f.Truncate(size))
		if at >= 0 {
			_, err = f.WriteAt([]byte("x"), at)
		}
		check(t, err, f.Close(), os.Chtimes(f.Name(), date, date))
		s, err := root.Sum("big")
		check(t, err)
		return s
	}
	const size = 1 << 30 // is sampled
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
		write(t, data, name, text)
		want[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	sources := []Source{{Name: "a.csv", Path: filepath.Join(data, "a.csv")},
		{Name: "in", Path: filepath.Join(data, "in")}, {Name: "db" + DatabaseEnding, Database: "sqlite://"}}
	l, err := List(t.Context(), sources)
	_, linkErr := Link(run, "data", sources, nil)
	check(t, err, linkErr)
	gone := append(l.Files, File{Name: "in/gone.csv"})
	for _, in := range []string{data, filepath.Join(run, "data")} {
		for i, s := range sources {
			sources[i].Path = filepath.Join(in, s.Name)
		}
		if got := Sums(sources, gone); !maps.Equal(got, want) {
			t.Errorf("in %s: got %v, want %v", in, got, want)
		}
	}
}

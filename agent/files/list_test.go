package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
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

func list(t *testing.T, root string, include ...string) (Listing, error) {
	return List(t.Context(), []Source{{Path: root}}, include)
}

func TestList(t *testing.T) {
	base := t.TempDir()
	data := filepath.Join(base, "data")
	for _, name := range []string{
		"b.csv", "a b's \"x\".csv", "deep/er/c.json", "empty.txt", "é.csv",
		"files/kept.csv", // files/ alone is not a run
		".hidden", ".git/config", "deep/.ipynb_checkpoints/x.ipynb", "__pycache__/x.pyc",
		"dsstar-runs/1/notebook.ipynb", "dsstar-runs/1/trace.jsonl", "dsstar-runs/1/files/out.csv",
	} {
		write(t, filepath.Join(data, name), strings.Repeat("x",
			len(name)*min(1, strings.Count(name, "."))))
	}
	write(t, filepath.Join(data, "empty.txt"), "")
	write(t, filepath.Join(base, "far.csv"), "12345")
	for link, to := range map[string]string{"link.csv": "../far.csv", "broken.csv": "nowhere",
		"folder": "deep", "loop": ".", "../linked": "data"} {
		if err := os.Symlink(to, filepath.Join(data, link)); err != nil {
			t.Fatal(err)
		}
	}
	want := []File{
		{Name: `a b's "x".csv`, Size: 13}, {Name: "b.csv", Size: 5}, {Name: "deep/er/c.json", Size: 14},
		{Name: "empty.txt"}, {Name: "files/kept.csv", Size: 14}, {Name: "link.csv", Size: 5},
		{Name: "é.csv", Size: 6},
	}
	for _, folder := range []string{data, filepath.Join(base, "linked"), data + "/deep/.."} {
		if got, err := list(t, folder); err != nil ||
			!reflect.DeepEqual(got, Listing{Files: want}) {
			t.Errorf("%s: got  %v, %v\nwant %v", folder, got, err, want)
		}
	}
	if got, err := list(t, filepath.Join(data, ".git")); err != nil ||
		len(got.Files) != 1 {
		t.Errorf("a folder that is hidden itself: %v, %v", got, err)
	}
	if _, err := list(t, filepath.Join(data, "nowhere")); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ended, []Source{{Path: data}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}

// A project folder contains more than data. What is skipped is reported, and what the user
// names is not skipped.
func TestListSkips(t *testing.T) {
	data := t.TempDir()
	for name, content := range map[string]string{
		"sales.csv": "a", "src/load.py": "a", "build/kept.csv": "a",
		"env/pyvenv.cfg": "home = /usr", "env/lib/site-packages/pandas/x.py": "a", "env/share/x.csv": "a",
		"conda/conda-meta/history": "a", "conda/lib/x.csv": "a",
		"web/node_modules/left/data.json": "a", "lib/site-packages/x.csv": "a",
		"target/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n", "target/x.csv": "a",
		"notes/CACHEDIR.TAG": "mine", "CVS/pharmacies.csv": "a",
		".git/HEAD": "a", ".gitignore": "sales.csv\n",
	} {
		write(t, filepath.Join(data, name), content)
	}
	far := t.TempDir()
	write(t, filepath.Join(far, "deep", "x.csv"), "a")
	if err := os.Symlink(far, filepath.Join(data, "out")); err != nil {
		t.Fatal(err)
	}
	names := func(l Listing) (names []string) {
		for _, f := range l.Files {
			names = append(names, f.Name)
		}
		return names
	}
	got, err := list(t, data)
	usual := []string{"CVS/pharmacies.csv", "build/kept.csv", "notes/CACHEDIR.TAG", "sales.csv",
		"src/load.py"}
	if err != nil || !reflect.DeepEqual(names(got), usual) {
		t.Errorf("got  %q, %v\nwant %q", names(got), err, usual)
	}
	skipped := []Skipped{
		{"conda/", "a conda environment"}, {"env/", "a Python environment"},
		{"lib/site-packages/", "installed packages"},
		{"target/", "a cache"}, {"web/node_modules/", "installed packages"},
	}
	if !reflect.DeepEqual(got.Skipped, skipped) {
		t.Errorf("skipped %+v\nwant    %+v", got.Skipped, skipped)
	}
	if said := InWords(append(got.Skipped, got.Skipped...)); !strings.HasPrefix(said,
		"conda/ (a conda environment), env/ (") || !strings.HasSuffix(said, ", and 4 more") {
		t.Error(said)
	}
	for _, c := range []struct {
		folder  string
		include []string
		more    []string // expected instead for a folder
	}{
		{"", []string{"target", "./env/share/"}, []string{"env/share/x.csv", "target/CACHEDIR.TAG", "target/x.csv"}},
		{"", []string{"env/share/x.csv", "conda/lib"}, []string{"conda/lib/x.csv", "env/share/x.csv"}},
		{"env", nil, []string{"pyvenv.cfg", "share/x.csv"}},
		{"web", []string{"."}, []string{"node_modules/left/data.json"}},
		{"", []string{"..", "out/deep", "nowhere"}, nil}, // nothing outside is listed
	} {
		want := slices.Clone(c.more)
		if c.folder == "" {
			want = append(want, usual...)
			slices.Sort(want)
		}
		if got, err := list(t, filepath.Join(data, c.folder), c.include...); err != nil ||
			!reflect.DeepEqual(names(got), want) {
			t.Errorf("%s with %q: got %q, %v\nwant %q", c.folder, c.include, names(got), err, want)
		}
	}
}

// Old archives have names in other encodings; they are listed, and can be read.
func TestForeignNames(t *testing.T) {
	data := t.TempDir()
	if runtime.GOOS != "linux" || os.Mkdir(filepath.Join(data, "Stra\xdfe"), 0o755) != nil {
		t.Skip("names are UTF-8 here")
	}
	want := []File{{Name: "Stra\xdfe/\xe9_1.txt", Size: 1}}
	write(t, filepath.Join(data, want[0].Name), "x")
	got, err := list(t, data)
	if err != nil || !reflect.DeepEqual(got.Files, want) {
		t.Fatalf("got %v, %v", got, err)
	}
	if look, err := In(data).Look(want[0].Name, 10); err != nil || look.Text != "x" {
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
	got, err := list(t, data)
	if err != nil || len(got.Files) != 1 || InWords(got.Skipped) != "closed/ (it cannot be read)" {
		t.Errorf("got %+v, %v", got, err)
	}
}

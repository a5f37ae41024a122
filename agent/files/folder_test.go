package files

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
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

// listed is what a folder has, and the names of its files.
func listed(t *testing.T, dir string) (l Listing, names []string) {
	t.Helper()
	l, err := List(t.Context(), []Source{{Path: dir}})
	check(t, err)
	for _, f := range l.Files {
		names = append(names, f.Name)
	}
	return l, names
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
		write(t, data, name, strings.Repeat("x", len(name)))
	}
	write(t, data, "empty.txt", "")
	write(t, base, "far.csv", "12345")
	links(t, data, map[string]string{"link.csv": "../far.csv", "broken.csv": "nowhere",
		"folder": "deep", "loop": ".", "../linked": "data"})
	want := []File{
		{Name: `a b's "x".csv`, Size: 13}, {Name: "b.csv", Size: 5}, {Name: "deep/er/c.json", Size: 14},
		{Name: "empty.txt"}, {Name: "files/kept.csv", Size: 14}, {Name: "link.csv", Size: 5},
		{Name: "é.csv", Size: 6},
	}
	for _, folder := range []string{data, filepath.Join(base, "linked"), data + "/deep/.."} {
		if got, _ := listed(t, folder); !reflect.DeepEqual(got.Files, want) {
			t.Errorf("%s: got  %v\nwant %v", folder, got.Files, want)
		}
	}
	if _, names := listed(t, filepath.Join(data, ".git")); len(names) != 1 {
		t.Errorf("a folder that is hidden itself: %q", names)
	}
	nowhere := []Source{{Path: filepath.Join(data, "nowhere")}}
	if _, err := List(t.Context(), nowhere); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ended, []Source{{Path: data}}); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}

// A project folder contains more than data. What is skipped is reported, and what is named itself is
// not skipped.
func TestListSkips(t *testing.T) {
	data := t.TempDir()
	for _, name := range strings.Fields(`sales.csv src/load.py build/kept.csv env/pyvenv.cfg
		env/lib/site-packages/pandas/x.py env/share/x.csv conda/conda-meta/history conda/lib/x.csv
		web/node_modules/left/data.json lib/site-packages/x.csv
		root/proc/mounts root/proc/self/x.csv root/proc/uptime root/sys/block/x root/sys/bus/x root/sys/class/x root/sys/devices/x root/sys/firmware/x
		CVS/pharmacies.csv .git/HEAD .gitignore`) {
		write(t, data, name, "a")
	}
	for folder, want := range map[string][]string{
		"":                 {"CVS/pharmacies.csv", "build/kept.csv", "sales.csv", "src/load.py"},
		"env":              {"pyvenv.cfg", "share/x.csv"},
		"web/node_modules": {"left/data.json"},
	} {
		if _, names := listed(t, filepath.Join(data, folder)); !slices.Equal(names, want) {
			t.Errorf("%s: got %q\nwant %q", folder, names, want)
		}
	}
	root, err := os.OpenRoot(data)
	check(t, err, root.MkdirAll("x"+strings.Repeat("/"+strings.Repeat("x", 200), 25), 0o755), root.Close())
	const skipped = "conda/ (a Python environment), env/ (a Python environment), lib/site-packages/ " +
		"(installed packages), root/proc/ (of the system), root/sys/ (of the system), web/node_modules/ " +
		"(installed packages) and 1 more"
	got, _ := listed(t, data)
	if said := InWords(got.Skipped); said != skipped {
		t.Error(said)
	}
	if last := got.Skipped[len(got.Skipped)-1]; last.Why != "it cannot be read" { // its path is too long
		t.Error(last)
	}
}

// Old archives have names in other encodings; they are listed, and can be read.
func TestForeignNames(t *testing.T) {
	data, name := t.TempDir(), "Stra\xdfe/\xe9_1.txt"
	if os.Mkdir(filepath.Join(data, filepath.Dir(name)), 0o755) != nil {
		t.Skip("names are UTF-8 here")
	}
	write(t, data, name, "x")
	_, names := listed(t, data)
	text, _, err := In(data).Text(name, 10)
	if err != nil || !slices.Equal(names, []string{name}) || text != "x" {
		t.Errorf("got %q, %q, %v", names, text, err)
	}
}

// A record may come from a stranger: no link is made outside of the run folder, wherever its links
// lead, what the record says of a download never brings a file, and nothing is linked that the
// caller refuses.
func TestLinkStaysInside(t *testing.T) {
	secret, refused := write(t, t.TempDir(), "id_rsa", "SECRET"), errors.New("refused")
	may := func(real string) error {
		if real == secret {
			return refused
		}
		return nil
	}
	for name, recorded := range map[string]string{
		"above":                 `{"name":"../x.csv","path":"/"}`,
		"absolute":              `{"name":"/x.csv","path":"/"}`,
		"through a link":        `{"name":"out/x.csv","path":"/"}`,
		"the folder itself":     `{"name":"","path":"/"}`,
		"not clean":             `{"name":"a/../x.csv","path":"/"}`,
		"a download":            `{"name":"x.csv","path":"SECRET","from":"https://example.org/x.csv"}`,
		"a download, elsewhere": `{"name":"x.csv","download":"SECRET","Download":"SECRET","from":"https://x"}`,
		"a device":              `{"name":"x.csv","path":"/dev/zero","from":"https://example.org/x.csv"}`,
		"a file":                `{"name":"x.csv","path":"SECRET"}`,
		"a link there already":  `{"name":"link.csv","path":"other.csv"}`,
	} {
		run, outside := t.TempDir(), t.TempDir()
		data := filepath.Join(run, "data")
		var s Source
		check(t, os.Mkdir(data, 0o755), json.Unmarshal([]byte(strings.ReplaceAll(recorded, "SECRET", secret)), &s))
		links(t, data, map[string]string{"out": outside, "link.csv": secret})
		if linked, err := Link(run, "data", []Source{s}, may); err == nil {
			t.Errorf("%s: linked %v, want an error", name, linked)
		}
		for _, at := range []string{run, data, outside} {
			if made, _ := filepath.Glob(filepath.Join(at, "x.csv")); len(made) > 0 {
				t.Errorf("%s: made %q", name, made)
			}
		}
	}
}

// A file is listed, linked and digested with its companions, whether it is named or its folder is:
// with parts, which have data that the file itself lacks, and with others, which are only carried.
func TestCompanions(t *testing.T) {
	for name, c := range map[string]struct{ file, parts, carried, apart string }{
		"SQLite":    {"a.db", "a.db-wal a.db-journal", "a.db-shm", "a.wal"},
		"no ending": {"Cookies", "Cookies-wal", "Cookies-shm", ""},
		"DuckDB":    {"a.duckdb", "a.duckdb.wal", "", "a.wal"},
		"shapefile": {"a.shp", "", "", "a.shx a.dbf"}, // whose parts are files of their own
	} {
		t.Run(name, func(t *testing.T) {
			dir, run := t.TempDir(), t.TempDir()
			source := Source{Name: "in/" + c.file, Path: write(t, dir, c.file, "…")}
			others := strings.Fields(c.parts + " " + c.carried + " " + c.apart)
			for _, other := range others {
				write(t, dir, other, other)
			}
			all, err := Together([]Source{source})
			named, listErr := List(t.Context(), all)
			if check(t, err, listErr); len(named.Files) != 1 {
				t.Fatal(named)
			}
			folder, names := listed(t, dir)
			if want := len(strings.Fields(c.apart)) + 1; len(names) != want {
				t.Errorf("in its folder: %q", names)
			}
			size := int64(len("…") + len(strings.Join(strings.Fields(c.parts), "")))
			for _, f := range []File{named.Files[0], folder.Files[slices.Index(names, c.file)]} {
				if path.Base(f.Name) != c.file || f.Size != size {
					t.Errorf("%+v, not of %d bytes", f, size)
				}
			}
			_, err = Link(run, "data", []Source{source}, nil)
			check(t, err)
			links, _ := filepath.Glob(filepath.Join(run, "data", "in", "*"))
			if want := 1 + len(strings.Fields(c.parts+" "+c.carried)); len(links) != want {
				t.Errorf("links are %q, want %d", links, want)
			}
			for _, other := range others { // the sum changes with parts, and with nothing else beside it
				before, err := In(filepath.Join(run, "data"), dir).Sum("in/" + c.file)
				write(t, dir, other, "changed")
				sum, sumErr := In(filepath.Join(run, "data"), dir).Sum("in/" + c.file)
				part := slices.Contains(strings.Fields(c.parts), other)
				if errors.Join(err, sumErr) != nil || (sum != before) != part {
					t.Errorf("%s is changed: part %v, %s, %s, %v, %v", other, part, before, sum, err, sumErr)
				}
			}
		})
	}
}

// The links to companions are those of what is there now, beside where the file's own link leads.
func TestCompanionsComeAndGo(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	write(t, dir, "old/a.duckdb", "…")
	write(t, dir, "new/a.duckdb", "…")
	wal := write(t, dir, "old/a.duckdb.wal", "rows")
	link := filepath.Join(run, "data", "a.duckdb")
	leads := func(what, want string) {
		t.Helper()
		_, err := Link(run, "data", []Source{{Name: "a.duckdb", Path: "../old/a.duckdb"}}, nil)
		if to, _ := os.Readlink(link + ".wal"); err != nil || to != want {
			t.Errorf("%s: the link leads to %q, %v", what, to, err)
		}
	}
	check(t, os.Mkdir(run, 0o755))
	leads("a log", wal)
	check(t, os.Remove(wal))
	leads("no log any more", "")
	write(t, dir, "old/a.duckdb.wal", "rows")
	leads("a log again", wal)
	check(t, os.Remove(link), os.Symlink("../../new/a.duckdb", link))
	leads("another database", "")
}

// A companion that cannot come is an error, and one that is named as well is no other file.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	db := Source{Name: "a.db", Path: write(t, dir, "a.db", "…")}
	wal := Source{Name: "a.db-wal", Path: write(t, dir, "a.db-wal", "rows")}
	other := Source{Name: "other", Path: wal.Path}
	for _, c := range []struct {
		sources []Source
		want    string // those that come, of what
	}{
		{[]Source{wal, db}, "a.db: a.db-wal:a.db"}, {[]Source{other, db}, "other: a.db: a.db-wal:a.db"},
	} {
		all, err := Together(c.sources)
		got := ""
		for _, s := range all {
			got += " " + s.Name + ":" + s.Of
		}
		if err != nil || got != " "+c.want {
			t.Errorf("got %q, %v, want %q", got, err, c.want)
		}
	}
	err := errors.Join(os.Remove(wal.Path), os.Symlink("/etc/hostname", wal.Path))
	if _, linked := Together([]Source{db}); err != nil || linked == nil {
		t.Errorf("a link in place of the log: %v", err)
	}
}

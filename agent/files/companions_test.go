package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dsstar/agent/files"
)

const (
	sqlite = "SQLite format 3\x00…"
	duckdb = "checksumDUCK…"
)

// formats are files with their companions: parts have data that the file itself lacks, and others are
// only carried.
var formats = map[string]struct {
	file, content  string
	parts, carried []string
	apart          []string // what only looks like a companion
}{
	"SQLite":     {"a.db", sqlite, []string{"a.db-wal", "a.db-journal"}, []string{"a.db-shm"}, []string{"a.wal"}},
	"no ending":  {"Cookies", sqlite, []string{"Cookies-wal"}, []string{"Cookies-shm"}, nil},
	"DuckDB":     {"a.duckdb", duckdb, []string{"a.duckdb.wal"}, nil, []string{"a.wal"}},
	"shapefile":  {"a.shp", "…", []string{"a.shx", "a.dbf", "a.prj", "a.cpg"}, nil, []string{"a.csv", "b.dbf"}},
	"upper case": {"A.SHP", "…", []string{"A.SHX", "A.DBF"}, nil, []string{"A.TXT"}},
	"dBASE":      {"a.dbf", "…", []string{"a.cpg"}, nil, []string{"a.csv"}},
	"numbers":    {"a.img", "…", []string{"a.hdr"}, nil, []string{"a.tfw"}},
	"GeoTIFF":    {"a.tif", "…", []string{"a.tif.aux.xml", "a.tfw"}, nil, nil},
	"a table":    {"a.csv", "n\n", nil, nil, []string{"a.prj", "a.hdr"}},
}

func put(t *testing.T, content string, path ...string) string {
	t.Helper()
	at := filepath.Join(path...)
	err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// names are those of files, each followed by those of its companions.
func names(all []files.File) (names []string) {
	for _, f := range all {
		names = append(names, f.Name)
		for _, c := range f.With {
			names = append(names, "with "+c.Name)
		}
	}
	return names
}

func with(file string, parts []string) []string {
	all := []string{file}
	for _, p := range parts {
		all = append(all, "with "+p)
	}
	return all
}

// A file is listed, linked and digested with its companions, whether it is named or its folder is.
func TestCompanions(t *testing.T) {
	for name, c := range formats {
		t.Run(name, func(t *testing.T) {
			dir, run := t.TempDir(), t.TempDir()
			source := files.Source{Name: "in/" + c.file, Path: put(t, c.content, dir, c.file)}
			for _, other := range slices.Concat(c.parts, c.carried, c.apart) {
				put(t, other, dir, other)
			}
			all, err := files.Together([]files.Source{source})
			if err != nil {
				t.Fatal(err)
			}
			listed, err := files.List(t.Context(), all, nil)
			if got := names(listed.Files); err != nil || !slices.Equal(got, with("in/"+c.file, below(c.parts))) {
				t.Errorf("named alone: %q, %v", got, err)
			}
			folder, err := files.List(t.Context(), []files.Source{{Path: dir}}, nil)
			want := slices.Sorted(slices.Values(append(slices.Clone(c.apart), with(c.file, c.parts)...)))
			if got := slices.Sorted(slices.Values(names(folder.Files))); err != nil || !slices.Equal(got, want) {
				t.Errorf("in its folder: %q, %v\nwant %q", got, err, want)
			}

			if _, err := files.Link(run, "data", []files.Source{source}, nil); err != nil {
				t.Fatal(err)
			}
			links, _ := filepath.Glob(filepath.Join(run, "data", "in", "*"))
			if want := 1 + len(c.parts) + len(c.carried); len(links) != want {
				t.Errorf("links are %q, want %d", links, want)
			}
			for _, link := range links {
				if to, err := filepath.EvalSymlinks(link); err != nil || filepath.Base(to) != filepath.Base(link) {
					t.Errorf("%s leads to %s, %v", link, to, err)
				}
			}
			digested(t, dir, run, all, listed.Files[0], c.parts)
		})
	}
}

func below(names []string) (all []string) {
	for _, n := range names {
		all = append(all, "in/"+n)
	}
	return all
}

// digested checks that the sum of a file changes with its parts, and with nothing else beside it.
func digested(t *testing.T, dir, run string, all []files.Source, f files.File, parts []string) {
	t.Helper()
	var also []string
	for _, s := range all {
		also = append(also, s.Path)
	}
	sum := func() string {
		sum, err := files.In(filepath.Join(run, "data"), also...).Sum(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == filepath.Base(f.Name) {
			continue
		}
		before := sum()
		put(t, "changed", dir, e.Name())
		if changed, part := sum() != before, slices.Contains(parts, e.Name()); changed != part {
			t.Errorf("%s is changed: another sum is %v, want %v", e.Name(), changed, part)
		}
	}
}

// The links to companions are those of what is there now, beside where the file's own link leads.
func TestCompanionsComeAndGo(t *testing.T) {
	dir := t.TempDir()
	put(t, duckdb, dir, "old", "a.duckdb")
	wal := put(t, "rows", dir, "old", "a.duckdb.wal")
	put(t, duckdb, dir, "new", "a.duckdb")
	recorded := []files.Source{{Name: "a.duckdb", Path: "../old/a.duckdb"}}
	linked := func() string {
		t.Helper()
		run := filepath.Join(dir, "run")
		if err := os.MkdirAll(run, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Link(run, "data", recorded, nil); err != nil {
			t.Fatal(err)
		}
		to, _ := os.Readlink(filepath.Join(run, "data", "a.duckdb.wal"))
		return to
	}
	if to := linked(); to != filepath.Join("..", "..", "old", "a.duckdb.wal") {
		t.Errorf("the link leads to %q, and cannot be moved with the run", to)
	}
	if err := os.Remove(wal); err != nil {
		t.Fatal(err)
	}
	if to := linked(); to != "" {
		t.Errorf("there is no log any more, but a link to %s", to)
	}
	put(t, "rows", wal)
	linked()
	link := filepath.Join(dir, "run", "data", "a.duckdb")
	if err := errors.Join(os.Remove(link), os.Symlink("../../new/a.duckdb", link)); err != nil {
		t.Fatal(err)
	}
	if to := linked(); to != "" {
		t.Errorf("the database is another one, but its log is %s", to)
	}
}

// A companion that cannot come is an error, and one that is named as well is no other file.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	db := files.Source{Name: "a.db", Path: put(t, sqlite, dir, "a.db")}
	wal := files.Source{Name: "a.db-wal", Path: put(t, "rows", dir, "a.db-wal")}
	all, err := files.Together([]files.Source{wal, db})
	if err != nil || len(all) != 2 || all[1].Of != "a.db" {
		t.Errorf("both are named: %+v, %v", all, err)
	}
	wal.Name = "other"
	if all, err = files.Together([]files.Source{wal, db}); err != nil || len(all) != 3 || all[0].Of != "" {
		t.Errorf("the log has a name of its own: %+v, %v", all, err)
	}
	first := files.Source{Name: "b.tif", Path: put(t, "…", dir, "b.tif")}
	second := files.Source{Name: "b.tiff", Path: put(t, "…", dir, "b.tiff")}
	put(t, "1\n", dir, "b.tfw")
	if all, err = files.Together([]files.Source{first, second}); err != nil || len(all) != 3 {
		t.Errorf("a companion of two: %+v, %v", all, err)
	}
	if err := errors.Join(os.Remove(wal.Path), os.Symlink("/etc/hostname", wal.Path)); err != nil {
		t.Fatal(err)
	}
	if _, err = files.Together([]files.Source{db}); err == nil {
		t.Errorf("a link in place of the log: %v", err)
	}
}

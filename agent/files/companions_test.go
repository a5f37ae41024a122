package files

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
			if errors.Join(err, listErr) != nil || len(named.Files) != 1 {
				t.Fatal(err, listErr, named)
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
			if _, err := Link(run, "data", []Source{source}, nil); err != nil {
				t.Fatal(err)
			}
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
	for _, c := range []struct {
		name   string
		change func() error
		to     string
	}{
		{"a log", func() error { return nil }, wal},
		{"no log any more", func() error { return os.Remove(wal) }, ""},
		{"a log again", func() error { return os.WriteFile(wal, []byte("rows"), 0o600) }, wal},
		{"another database", func() error { return errors.Join(os.Remove(link), os.Symlink("../../new/a.duckdb", link)) }, ""},
	} {
		err := errors.Join(c.change(), os.MkdirAll(run, 0o755))
		_, linkErr := Link(run, "data", []Source{{Name: "a.duckdb", Path: "../old/a.duckdb"}}, nil)
		to, _ := os.Readlink(filepath.Join(run, "data", "a.duckdb.wal"))
		if errors.Join(err, linkErr) != nil || to != c.to {
			t.Errorf("%s: the link leads to %q, %v, %v", c.name, to, err, linkErr)
		}
	}
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

package describe

import (
	"os"
	"path/filepath"
	"testing"

	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
)

// A profile is kept for files of which it says the same: keys in the path and what lies beside it
// count.
func TestStoreKey(t *testing.T) {
	key := func(names ...string) string {
		dir := t.TempDir()
		r := &Describer{Options: Options{Cache: &Cache{Dir: t.TempDir()}}, t: &record.Trajectory{}}
		for _, n := range names {
			at := filepath.Join(dir, n)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte("content"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := files.List(t.Context(), []files.Source{{Path: dir}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.t.Task.Files = all.Files
		return filepath.Base(r.keptAt(files.In(dir), all.Files[0]))
	}
	if key("c/a.csv") != key("a.csv", "b.csv") {
		t.Error("another folder, or a file beside it, makes a table another one")
	}
	for _, c := range [][2]string{
		{key("year=2020/a.parquet"), key("year=2021/a.parquet")},
		{key("year=2020/a.parquet"), key("year=2020/a.parquet", "year=2021/a.parquet")},
		{key("a.csv"), key("a.tsv")},
		{key("a.dbf"), key("a.dbf", "a.cpg")},
		{key("a.shp"), key("a.shp", "a.prj")},
	} {
		if c[0] == c[1] {
			t.Errorf("two profiles have the key %s", c[0])
		}
	}
}

// A profile is kept unless the next run may find more.
func TestKeepProfile(t *testing.T) {
	for n, c := range []struct {
		p    profile.Profile
		kept bool
	}{
		{profile.Profile{Format: "x"}, true},
		{profile.Profile{Format: "x", Untried: true}, false},
		{profile.Profile{Format: "x", Problem: "y"}, false},
	} {
		at := filepath.Join(t.TempDir(), "ab", "c.json")
		keep(at, c.p)
		if _, kept := keptProfile(at); kept != c.kept {
			t.Errorf("%d: kept %v", n, kept)
		}
	}
}

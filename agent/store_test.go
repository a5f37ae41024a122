package agent_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"dsstar/agent/describe"
)

// kept lists the files of a cache.
func kept(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

// Empty files need no cache, and one that cannot be written costs the next run its making, no more.
func TestCacheKeepsWhatCosts(t *testing.T) {
	cache := &describe.Cache{Dir: t.TempDir()}
	play(t, simple, withData(t, map[string]string{"c.csv": ""}), func(s *stage) {
		s.config.Cache = cache
	}).noError(t)
	if all := kept(t, cache.Dir); len(all) > 0 {
		t.Errorf("kept %q", all)
	}
	if cache.Dir = filepath.Join(cache.Dir, "file"); os.WriteFile(cache.Dir, nil, 0o644) != nil {
		t.Fatal("no file")
	}
	p := play(t, simple, withData(t, tables("a.csv")), func(s *stage) { s.config.Cache = cache })
	if !p.Verified() || len(p.Warnings) > 0 {
		t.Errorf("verified %v, warnings %q", p.Verified(), p.Warnings)
	}
}

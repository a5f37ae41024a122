package agent_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// A description is made once, for the same content, name, model and words.
func TestCache(t *testing.T) {
	rewrite := func(t *testing.T, path string, change func(text string) string) {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(data))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	file := func(s *stage) string { return filepath.Join(s.task.Data, "a.csv") }
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *stage, cache *describe.Cache)
		calls  int
	}{
		{"another date and question", func(t *testing.T, s *stage, _ *describe.Cache) {
			rewrite(t, file(s), func(text string) string { return text })
			s.task.Question = "Why?"
		}, 0},
		{"another content of the same size", func(t *testing.T, s *stage, _ *describe.Cache) {
			rewrite(t, file(s), func(text string) string { return strings.ReplaceAll(text, "17\n", "18\n") })
		}, 1},
		{"another name", func(t *testing.T, s *stage, _ *describe.Cache) {
			s.task.Files[0].Name = "b.csv"
			if err := os.Rename(file(s), filepath.Join(s.task.Data, "b.csv")); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"another model", func(_ *testing.T, _ *stage, cache *describe.Cache) { cache.Model = "m2" }, 1},
		{"other words", func(_ *testing.T, s *stage, _ *describe.Cache) {
			s.config.DescriptionChars = 2000
		}, 1},
		{"another method", func(_ *testing.T, s *stage, _ *describe.Cache) {
			s.config.Method.Script = true
		}, 1},
		{"a torn file", func(t *testing.T, _ *stage, cache *describe.Cache) {
			rewrite(t, kept(t, cache.Dir)[0], func(text string) string { return text[:20] })
		}, 1},
		{"somebody else's file", func(t *testing.T, _ *stage, cache *describe.Cache) {
			lies := func(string) string { return `{"file": "x.csv", "text": "lies"}` }
			rewrite(t, kept(t, cache.Dir)[0], lies)
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := withData(t, tables("a.csv"))
			cache := &describe.Cache{Dir: filepath.Join(t.TempDir(), "cache"), Model: "m1"}
			replies := simple.with(script{"last": "y = \"data/a.csv\"\nprint(y)"})
			stored := func(s *stage) { s.config.Cache = cache }
			first := play(t, replies, files, stored).noError(t)
			if first.model.count("analyzer") != 1 || first.Descriptions[0].Cached ||
				len(kept(t, cache.Dir)) != 1 {
				t.Fatalf("at first: %+v, kept %q", first.Descriptions[0], kept(t, cache.Dir))
			}
			second := play(t, replies.with(published), files, stored, func(s *stage) { c.change(t, s, cache) }).noError(t)
			d := second.Descriptions[0]
			if n := second.model.count("analyzer"); n != c.calls || d.Cached != (c.calls == 0) ||
				d.Text != "a table" || d.Kind != "CSV" || d.Code != `print("a table")` {
				t.Errorf("%d calls, want %d: %+v", n, c.calls, d)
			}
			contains(t, second.model.prompt(t, second.model.asked[c.calls]), d.Text)
		})
	}
}

// A family comes from the cache whole, with its script once in the record; what failed is tried
// again.
func TestCacheOfFamily(t *testing.T) {
	files := withData(t, tables("a.csv", "b.csv", "c.csv", "odd.csv"))
	cache := &describe.Cache{Dir: t.TempDir(), Model: "m1"}
	stored := func(s *stage) { s.config.Cache = cache }
	replies := simple.with(script{"debugger": "die()",
		"analyzer": "fail_on(path, \"odd\")\nprint(\"a table of some length\")\nprint(path)"})
	first := play(t, replies, files, stored).noError(t)
	if d := first.described(t, "odd.csv"); d.Error == "" || len(kept(t, cache.Dir)) != 3 {
		t.Fatalf("%+v; kept %q", d, kept(t, cache.Dir))
	}
	second := play(t, replies.with(script{"analyzer": `print("mended")`}), files, stored).noError(t)
	equal(t, "calls", second.asks(), []string{"analyzer odd.csv"})
	for i, d := range second.Descriptions {
		was := first.Descriptions[i]
		if d.File == "odd.csv" {
			equal(t, "text", d.Text, "mended")
		} else if was.Cached = true; !cmp.Equal(d, was, cmpopts.EquateEmpty()) {
			t.Errorf("%+v, at first %+v", d, was)
		}
	}
}

// Empty files and corrections need no cache, and one that cannot be written costs the next run a
// call, no more.
func TestCacheKeepsWhatCostsACall(t *testing.T) {
	cache := &describe.Cache{Dir: t.TempDir(), Model: "m1"}
	content := map[string]string{"c.csv": "", "d.csv": "e"}
	play(t, simple, withData(t, content), func(s *stage) {
		s.config.Cache, s.config.Corrections = cache, map[string]string{"d.csv": "by hand"}
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

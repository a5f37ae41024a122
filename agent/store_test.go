package agent_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// A description is made once, for the same content, name, model and words.
func TestCache(t *testing.T) {
	cases := []struct {
		name   string
		change func(t *testing.T, s *stage, cache *describe.Cache)
		calls  int
	}{
		{"nothing is new", func(*testing.T, *stage, *describe.Cache) {}, 0},
		{"another date", func(t *testing.T, s *stage, _ *describe.Cache) {
			path := filepath.Join(s.task.Data, "a.csv")
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.Remove(path)
			}
			if err == nil {
				err = os.WriteFile(path, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"another question", func(_ *testing.T, s *stage, _ *describe.Cache) { s.task.Question = "Why?" }, 0},
		{"another content of the same size", func(t *testing.T, s *stage, _ *describe.Cache) {
			path := filepath.Join(s.task.Data, "a.csv")
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(strings.ReplaceAll(string(data), "17\n", "18\n")), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"another name", func(t *testing.T, s *stage, _ *describe.Cache) {
			if err := os.Rename(filepath.Join(s.task.Data, "a.csv"), filepath.Join(s.task.Data, "b.csv")); err != nil {
				t.Fatal(err)
			}
			s.task.Files[0].Name = "b.csv"
		}, 1},
		{"another model", func(_ *testing.T, _ *stage, cache *describe.Cache) { cache.Model = "m2" }, 1},
		{"other words", func(_ *testing.T, s *stage, _ *describe.Cache) { s.config.DescriptionChars = 2000 }, 1},
		{"another method", func(_ *testing.T, s *stage, _ *describe.Cache) { s.config.Method.Script = true }, 1},
		{"a torn file", func(t *testing.T, _ *stage, cache *describe.Cache) {
			for _, path := range kept(t, cache.Dir) {
				if err := os.Truncate(path, 20); err != nil {
					t.Fatal(err)
				}
			}
		}, 1},
		{"somebody else's file", func(t *testing.T, _ *stage, cache *describe.Cache) {
			for _, path := range kept(t, cache.Dir) {
				if err := os.WriteFile(path, []byte(`{"file": "x.csv", "text": "lies"}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, 1},
		{"a correction", func(_ *testing.T, s *stage, _ *describe.Cache) {
			s.config.Corrections = map[string]string{"a.csv": "a table by hand"}
		}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files, cache := withData(t, tables("a.csv")), &describe.Cache{Dir: filepath.Join(t.TempDir(), "cache"), Model: "m1"}
			replies := simple.with(script{"finalizer": "x = 1\ny = x\nprint(y)", "checker": "Form: fits"})
			stored := func(s *stage) { s.config.Cache, s.config.Method.NoComputed = cache, true }
			first := play(t, replies, files, stored).noError(t)
			if first.model.count("analyzer") != 1 || first.Descriptions[0].Cached || len(kept(t, cache.Dir)) != 1 {
				t.Fatalf("at first: %+v, kept %q", first.Descriptions[0], kept(t, cache.Dir))
			}
			second := play(t, replies, files, stored, func(s *stage) { c.change(t, s, cache) }).noError(t)
			d := second.Descriptions[0]
			if n := second.model.count("analyzer"); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
			if !strings.HasPrefix(d.Text, "a table") || d.Cached != (c.calls == 0 && !d.Corrected) || d.Kind != "CSV, 3 columns" {
				t.Errorf("%+v", d)
			}
			if c.calls == 0 && !d.Corrected && d.Code != `print("a table")` {
				t.Errorf("the script is not kept: %+v", d)
			}
			contains(t, second.model.prompt(t, "planner round 1"), d.Text)
		})
	}
}

// A family comes from the cache whole, with its script once in the record; what
// failed is tried again.
func TestCacheOfFamily(t *testing.T) {
	files, cache := withData(t, tables("a.csv", "b.csv", "c.csv", "odd.csv")), &describe.Cache{Dir: t.TempDir(), Model: "m1"}
	stored := func(s *stage) { s.config.Cache = cache }
	replies := simple.with(script{"analyzer": "fail_on(path, \"odd\")\nprint(\"a table of some length\")\nprint(path)", "debugger": "die()"})
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
			continue
		}
		if d.Text != was.Text || d.Like != was.Like || d.Code != was.Code || !d.Cached || d.Tries != was.Tries {
			t.Errorf("%+v, at first %+v", d, was)
		}
	}
	equal(t, "what the planner is shown", strings.Count(second.model.prompt(t, "planner round 1"), "Of the same structure as"), 2)
}

// Documents, empty files and corrections need no cache.
func TestCacheKeepsWhatCostsACall(t *testing.T) {
	cache := &describe.Cache{Dir: t.TempDir(), Model: "m1"}
	play(t, simple, withData(t, map[string]string{"a.md": "# A", "b.csv": "a,b\n1,2\n1,2\n", "c.csv": "", "d.csv": "e"}), func(s *stage) {
		s.config.Cache, s.config.Corrections = cache, map[string]string{"d.csv": "by hand"}
	}).noError(t)
	if all := kept(t, cache.Dir); len(all) > 0 {
		t.Errorf("kept %q", all)
	}
}

// A cache that cannot be written costs the next run a call, and no more.
func TestCacheThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p := play(t, simple, withData(t, tables("a.csv")), func(s *stage) { s.config.Cache = &describe.Cache{Dir: path, Model: "m1"} }).noError(t)
	if !p.Verified() || len(p.Warnings) > 0 {
		t.Errorf("verified %v, warnings %q", p.Verified(), p.Warnings)
	}
}

package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"dsstar/agent/files"
)

// A run folder may come from a stranger: no link is made outside of it, wherever its links lead.
func TestLinkStaysInside(t *testing.T) {
	for name, s := range map[string]files.Source{
		"above":             {Name: "../x", Path: "/"},
		"absolute":          {Name: "/x", Path: "/"},
		"through a link":    {Name: "out/x", Path: "/"},
		"the folder itself": {Name: "", Path: "/"},
		"not clean":         {Name: "a/../x", Path: "/"},
	} {
		t.Run(name, func(t *testing.T) {
			run, outside := t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(run, "data"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(run, "data", "out")); err != nil {
				t.Fatal(err)
			}
			sources, err := files.Link(run, "data", []files.Source{s})
			made, _ := filepath.Glob(outside + "/*")
			if above, _ := filepath.Glob(run + "/x"); len(made)+len(above) > 0 {
				t.Errorf("made %q, %q", made, above)
			}
			if err == nil {
				t.Errorf("sources are %v, want an error", sources)
			}
		})
	}
}

package files_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
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
			sources, err := files.Link(run, "data", []files.Source{s}, nil)
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

// A record may come from a stranger: what it says of a download never brings a file, and nothing is
// linked that the caller refuses.
func TestLinkBringsNothingByItself(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "id_rsa")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	may := func(real string) error {
		if real == secret {
			return refused
		}
		return nil
	}
	for name, recorded := range map[string]string{
		"a download":            `{"name":"x.csv","path":"SECRET","from":"https://example.org/x.csv"}`,
		"a download, elsewhere": `{"name":"x.csv","download":"SECRET","Download":"SECRET","from":"https://x"}`,
		"a device":              `{"name":"x.csv","path":"/dev/zero","from":"https://example.org/x.csv"}`,
		"a file":                `{"name":"x.csv","path":"SECRET"}`,
		"a link there already":  `{"name":"link.csv","path":"other.csv"}`,
	} {
		t.Run(name, func(t *testing.T) {
			run := t.TempDir()
			if err := os.Mkdir(filepath.Join(run, "data"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(secret, filepath.Join(run, "data", "link.csv")); err != nil {
				t.Fatal(err)
			}
			var s files.Source
			if err := json.Unmarshal([]byte(strings.ReplaceAll(recorded, "SECRET", secret)), &s); err != nil {
				t.Fatal(err)
			}
			if linked, err := files.Link(run, "data", []files.Source{s}, may); err == nil {
				t.Errorf("linked %v, want an error", linked)
			}
			if _, err := os.Lstat(filepath.Join(run, "data", "x.csv")); err == nil {
				t.Error("x.csv is there")
			}
		})
	}
}

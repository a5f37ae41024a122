package files

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		if err := errors.Join(os.Mkdir(data, 0o755), os.Symlink(outside, filepath.Join(data, "out")),
			os.Symlink(secret, filepath.Join(data, "link.csv"))); err != nil {
			t.Fatal(err)
		}
		var s Source
		if err := json.Unmarshal([]byte(strings.ReplaceAll(recorded, "SECRET", secret)), &s); err != nil {
			t.Fatal(err)
		}
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

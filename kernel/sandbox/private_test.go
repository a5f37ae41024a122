package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// Startup finds paths that programs run or trust when they start, the folders around them, and
// paths inside them.
func TestStartup(t *testing.T) {
	base := t.TempDir()
	home, bin := filepath.Join(base, "home"), filepath.Join(base, "programs")
	for _, dir := range []string{home + "/project/out", home + "/.ssh", bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(home, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", bin+":bin")
	for path, want := range map[string]bool{
		home: true, base: true, "/": true, base + "/link": true, home + "/.ssh": true,
		home + "/.config/autostart": true, home + "/.local": true,
		bin: true, bin + "/more": true, "/etc": true, "/usr/local/lib": true,
		home + "/project": false, home + "/project/out": false, home + "/.cache": false,
		"/srv/data": false,
	} {
		if at := Startup(path); (at != "") != want {
			t.Errorf("%s: %q", path, at)
		}
	}
}

package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChecks: what the programs in testdata/checks say of files, of profiles and of the readers holds.
// Each prints what is not so. Those whose names begin with long are left out of the quick tests.
func TestChecks(t *testing.T) {
	t.Parallel()
	common, err := os.ReadFile("testdata/checks.py")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/checks/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	by := map[string]string{"formats": "binaries.py", "values": "binaries.py", "masked": "masked.py"}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "long") && os.Getenv("DSSTAR_LONG") == "" {
				t.Skip("DSSTAR_LONG is not set")
			}
			check, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if recipe := by[name]; recipe != "" {
				dir, _ = made(t, recipe)
			}
			if out := run(t, dir, string(common)+string(check)); out != "" {
				t.Error(out)
			}
		})
	}
}

package profile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestAnyTables: of tables made at random and written to the formats, what a profile states is what
// made them, or is marked as a guess, a sample or an estimate, and its calls read them. DSSTAR_LONG
// takes 5,000 small ones and 100 large ones.
func TestAnyTables(t *testing.T) {
	t.Parallel()
	runs := []string{`"3000", "60"`}
	if os.Getenv("DSSTAR_LONG") != "" {
		runs = []string{`"10000", "5000"`, `"1", "100", "large"`}
	}
	check, err := filepath.Abs("testdata/tables/check.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, seeds := range runs {
		t.Log(run(t, t.TempDir(), fmt.Sprintf(`import os, runpy, tempfile
tempfile.tempdir = os.getcwd()
sys.argv = ["check.py", os.devnull, %s]
runpy.run_path(%q, run_name="__main__")`, seeds, check)))
	}
}

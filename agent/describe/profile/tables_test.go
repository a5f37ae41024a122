package profile_test

import (
	"os"
	"os/exec"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
)

// TestAnyTables: of tables made at random and written to the formats, what a profile states is what
// made them, or is marked as a guess, a sample or an estimate, and its calls read them. DSSTAR_LONG
// takes 5,000 small ones and 100 large ones.
func TestAnyTables(t *testing.T) {
	runs := [][]string{{"3000", "100"}}
	if os.Getenv("DSSTAR_LONG") != "" {
		runs = [][]string{{"10000", "5000"}, {"1", "100", "large"}}
	}
	program := script(t)
	for _, run := range runs {
		args := append([]string{"-I", "testdata/tables/check.py", program}, run...)
		cmd := exec.Command(pyenvtest.Python(t), args...)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("%v: %v", run, err)
		}
	}
}

package sandbox_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"dsstar/kernel"
)

// incompatible runs compat.py in k and returns, by name, the outputs of those of its 29 cells that
// do not print what they should.
func incompatible(t testing.TB, k *kernel.Kernel, v *victims) map[string]string {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "python3", "testdata/compat.py").Output()
	var cells [][3]string
	if err == nil {
		err = json.Unmarshal(list, &cells)
	}
	if err != nil || len(cells) != 29 {
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	if out := output(t, k, v.python()); out != "" {
		t.Fatal(out)
	}
	failed := map[string]string{}
	for _, cell := range cells {
		name, code, expected := cell[0], cell[1], cell[2]
		if out := output(t, k, code); !regexp.MustCompile(expected).MatchString(out) {
			failed[name] = out
		}
	}
	return failed
}

// output runs a cell and returns all its outputs as text.
func output(t testing.TB, k *kernel.Kernel, code string) string {
	t.Helper()
	e, err := k.ExecuteCell(t.Context(), kernel.Cell{Code: code, Timeout: time.Minute})
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	parts := make([]string, 0, len(e.Outputs)+1)
	for _, o := range e.Outputs {
		parts = append(parts, strings.TrimSpace(o.PlainText()))
	}
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	return strings.Join(parts, "\n")
}

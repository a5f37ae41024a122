package main

import (
	"strings"
	"testing"
)

// Of two data folders none is dropped without a word (U2).
func TestTwoDataFolders(t *testing.T) {
	for _, command := range []string{"nb --data a --data=b q", "nb -d a --data b q", "rerun --data a --data b x.ipynb", "bench score --data a --data b"} {
		a, _, stderr := testApp(t)
		if code := a.run(t.Context(), strings.Fields(command)); code != exitUsage || !strings.Contains(stderr.String(), "two data folders") {
			t.Errorf("%s: exit code %d: %s", command, code, stderr)
		}
	}
}

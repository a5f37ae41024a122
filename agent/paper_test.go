package agent_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/record"
)

// The requests of the paper's method are those that testdata/paper.golden has. It changes only with
// the method as published; then DSSTAR_UPDATE=1 writes it.
func TestPaperRequests(t *testing.T) {
	content := tables("a.csv", "b.csv", "long/c.csv")
	maps.Copy(content, map[string]string{"rules.md": "# Rules\n\nRound up.\n", "none.csv": "",
		"small.csv": "a;b\n1;2\n", "rules.pdf": "%PDF-1.4\n"})
	p := play(t, simple.with(script{
		"analyzer": "fail_on(path, \"b.csv\")\nprint(path)", "debugger b.csv, try 2": `print("mended")`,
		"verifier": "No", "verifier round 3": "Yes", "router round 2": "Step 2",
		"coder round 2": "x = 1\nraise KeyError(\"b\")", "debugger": "x = 2\nprint(x)",
	}), withData(t, content), func(s *stage) { s.config.Method = record.Paper() }).noError(t)
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p.model.requests)) {
		for n, m := range p.model.requests[key].Messages {
			fmt.Fprintf(&b, "==== %s, message %d\n%s\n\n", key, n+1, m.Text)
		}
	}
	const golden = "testdata/paper.golden"
	if os.Getenv("DSSTAR_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "requests", b.String(), string(want))
}

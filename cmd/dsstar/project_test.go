package main

import (
	"os"
	"strings"
	"testing"
)

// TestProjectHints: what the file of a cloned project cannot do ends every run before it begins, and the hints are
// only those that exist.
func TestProjectHints(t *testing.T) {
	for yaml, want := range map[string]struct{ said, not string }{
		"model: replay:.trace.jsonl":               {"--model replay:.trace.jsonl --data", ""}, // S9
		"prices: {a/b: {input: 0, output: 0}}":     {"${EDITOR:-vi}", "dsstar nb"},             // S10
		"max_rounds: 99":                           {"--max-rounds 99 --data", ""},
		"retries: 99":                              {"export DSSTAR_RETRIES=99", "dsstar nb"},
		"out: /srv/answers":                        {"export DSSTAR_OUT=/srv/answers", "dsstar nb"},
		"method: {computed: false, candidates: 1}": {"${EDITOR:-vi}", "dsstar nb"},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(projectFile, []byte(yaml), 0o644); err != nil {
			t.Fatal(err)
		}
		a, _, stderr := testApp(t)
		a.configDir = t.TempDir()
		said := func() string { return stderr.String() }
		if code := a.run(t.Context(), []string{"nb", "--data", ".", "q"}); code != exitUsage || !strings.Contains(said(), want.said) ||
			want.not != "" && strings.Contains(said(), want.not) {
			t.Errorf("%s: exit code %d: %s", yaml, code, said())
		}
	}
}

// TestProjectFile: the file of a cloned project cannot relax the sandbox; the flag of the hint, which is the user's word, can.
func TestProjectFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(projectFile, []byte("allow_read: [/opt/a b]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"nb --data . q", "resume .", "rerun x.ipynb", "describe .", "demo", "config"} {
		a, _, stderr := testApp(t)
		a.configDir = t.TempDir()
		if code := a.run(t.Context(), strings.Fields(command)); code != exitUsage {
			t.Errorf("%s: exit code %d", command, code)
		}
		for _, said := range []string{"dsstar.yaml: allow_read is ", " --allow-read '/opt/a b'", "export DSSTAR_ALLOW_READ='/opt/a b'", "config.yaml"} {
			if !strings.Contains(stderr.String(), said) {
				t.Errorf("%s: %q is not in %s", command, said, stderr)
			}
		}
	}
	a, stdout, stderr := testApp(t)
	if code := a.run(t.Context(), []string{"config", "--allow-read", "/opt/a b"}); code != 0 || !strings.Contains(stdout.String(), "/opt/a b  ") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

package main

import (
	"os"
	"strings"
	"testing"
)

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
		for _, said := range []string{"dsstar.yaml: allow_read: ", " --allow-read '/opt/a b' …", "export DSSTAR_ALLOW_READ='/opt/a b'", "config.yaml"} {
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

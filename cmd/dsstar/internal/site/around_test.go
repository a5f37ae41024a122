package site

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAround(t *testing.T) {
	prefix := t.TempDir()
	program := filepath.Join(prefix, "bin", "dsstar")
	python := filepath.Join(prefix, "bin", "python3.12")
	site := filepath.Join(prefix, "lib", "python3.12", "site-packages")
	needed := []string{program, python, filepath.Join(site, "dsstar", "__init__.py")}
	for _, module := range []string{"numpy", "pandas", "ipykernel", "ipykernel_launcher.py"} {
		needed = append(needed, filepath.Join(site, module))
	}
	for _, path := range needed {
		if got := around(program); got != "" {
			t.Errorf("got %q before there was %s", got, path)
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got := around(program); got != python {
		t.Errorf("got %q, want %q", got, python)
	}
	if got := around(filepath.Join(prefix, "other", "dsstar")); got != "" {
		t.Errorf("no wheel has installed %q", got)
	}
	if err := os.RemoveAll(filepath.Join(site, "pandas")); err != nil {
		t.Fatal(err)
	}
	if got := around(program); got != "" {
		t.Errorf("%q has no pandas", got)
	}
}

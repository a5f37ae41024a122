package kernels

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAround(t *testing.T) {
	prefix := t.TempDir()
	site := filepath.Join(prefix, "lib", "python3.12", "site-packages")
	program := filepath.Join(site, "dsstar", "bin", "dsstar")
	make := func(path string) {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, module := range []string{"numpy", "pandas", "ipykernel", "ipykernel_launcher.py"} {
		make(filepath.Join(site, module))
	}
	if got := around(program); got != "" {
		t.Errorf("%q is in no environment", got)
	}
	python := filepath.Join(prefix, "bin", "python")
	make(python)
	if got := around(program); got != python {
		t.Errorf("got %q", got)
	}
	if got := around(filepath.Join(prefix, "bin", "dsstar")); got != "" {
		t.Errorf("no wheel has installed %q", got)
	}
	if err := os.Remove(filepath.Join(site, "pandas")); err != nil {
		t.Fatal(err)
	}
	if got := around(program); got != "" {
		t.Errorf("%q has no pandas", got)
	}
}

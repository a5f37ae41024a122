package kernels

import (
	"os"
	"path/filepath"
)

// around returns the interpreter of the Python environment in which a wheel has installed the program,
// at PREFIX/lib/pythonX.Y/site-packages/dsstar/bin/dsstar, if the environment has the required modules;
// otherwise "".
func around(program string) string {
	site := filepath.Dir(filepath.Dir(filepath.Dir(program)))
	if filepath.Base(site) != "site-packages" {
		return ""
	}
	python := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(site))), "bin", "python")
	needed := []string{python}
	for _, module := range Required {
		needed = append(needed, filepath.Join(site, module))
	}
	for _, path := range append(needed, filepath.Join(site, "ipykernel_launcher.py")) {
		if _, err := os.Stat(path); err != nil {
			return ""
		}
	}
	return python
}

package site

import (
	"os"
	"path/filepath"
	"slices"
)

// around returns the interpreter of the Python environment in which a wheel has installed the program
// as PREFIX/bin/dsstar, if the environment has the required modules; otherwise "".
func around(program string) string {
	bin := filepath.Dir(program)
	sites, _ := filepath.Glob(filepath.Join(filepath.Dir(bin), "lib", "python3*", "site-packages"))
	for _, site := range sites {
		python := filepath.Join(bin, filepath.Base(filepath.Dir(site)))
		needed := []string{python, filepath.Join(site, "dsstar", "__init__.py"),
			filepath.Join(site, "ipykernel_launcher.py")}
		for _, module := range Required {
			needed = append(needed, filepath.Join(site, module))
		}
		if !slices.ContainsFunc(needed, missing) {
			return python
		}
	}
	return ""
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

package disk

import (
	"os"
	"path/filepath"
	"runtime"
)

// LookPath returns the programs of a name in the folders of path, a PATH, in their order. Relative
// folders are skipped: what lies in the current folder may be a stranger's.
func LookPath(name, path string) (all []string) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		program := filepath.Join(dir, name)
		info, err := os.Stat(program)
		if err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			all = append(all, program)
		}
	}
	return all
}

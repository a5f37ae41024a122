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

// Inside reports whether a path is a folder or below it. Both are real paths.
func Inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// RealPath resolves the links of a path, if it exists.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

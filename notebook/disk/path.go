package disk

import (
	"os"
	"path/filepath"
	"runtime"
)

// LookPath returns all programs with that name in the folders of path, which has the form of PATH,
// in order. It skips relative folders, because the current folder may contain a stranger's files.
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

// Inside reports whether path is folder or below it. Both must be real paths.
func Inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// RealPath returns path with its links resolved, or path itself if it does not exist.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

package usage

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dsstar/cmd/dsstar/internal/ui"
)

// Target returns the file that a command writes, with links resolved: the one of --out, or else the
// one that its argument implies. info is nil if there is none yet. name is what a file in a folder
// is called.
func Target(out, implied, name string) (path string, info fs.FileInfo, err error) {
	bad := func(hint Hint, format string, args ...any) (string, fs.FileInfo, error) {
		return "", nil, New(fmt.Sprintf(format, args...), hint)
	}
	path = out
	if out == "" {
		path = implied
		// the user has not named the link, and somebody else may have made it
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return bad(Shell("rm %s   # the link alone", path),
				"%s is a link, and nothing is written through it", ui.Printable(path))
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // else the file would replace the link
	}
	dir := filepath.Dir(path)
	info, err = os.Stat(path)
	switch {
	case os.IsNotExist(err):
		if in, err := os.Stat(dir); err != nil || !in.IsDir() {
			return bad(Shell("mkdir -p %s", dir), "--out: there is no folder %s", ui.Printable(dir))
		}
		return path, nil, nil
	case err != nil:
		return bad(Shell("ls -ld %s", dir), "--out: %v", err)
	case info.IsDir():
		return bad(Again("--out", filepath.Join(path, name)), "--out: %s is a folder", ui.Printable(path))
	case !info.Mode().IsRegular():
		return bad(Again("--out", "-"), "--out: %s is not a file", ui.Printable(path))
	}
	return path, info, nil
}

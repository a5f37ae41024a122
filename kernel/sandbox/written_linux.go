//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

const (
	// bytes that a file or folder counts at least, as inodes are limited too
	leastOfFile   = 4096
	deepestFolder = 500 // levels; reaching one takes as many steps
)

var errTooDeep = errors.New("folders are nested too deeply")

// written returns how many bytes the writable folders take on disk. It follows no links, and does not
// count what this user cannot read.
func (st stage) written() (sum int64, err error) {
	for _, dir := range st.Write {
		root, opened := os.OpenRoot(dir)
		if opened != nil {
			continue // it has gone
		}
		err = errors.Join(err, fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if strings.Count(name, "/") > deepestFolder {
				return errTooDeep
			}
			if err != nil {
				return nil // it is not readable, or has gone
			}
			if info, err := d.Info(); err == nil {
				sum += max(info.Sys().(*syscall.Stat_t).Blocks*512, leastOfFile)
			}
			return nil
		}))
		_ = root.Close() // nothing was written through it
	}
	return sum, err
}

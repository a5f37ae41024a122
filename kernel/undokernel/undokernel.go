// Package undokernel holds the Python package of the kernel with checkpoints, which is in this
// folder with its tests. README.md describes it; package rewind uses it.
package undokernel

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dsstar/notebook/disk"
)

// Module is the name of the Python package, with which python -m starts the kernel. It is also the
// feature that such a kernel announces.
const Module = "undokernel"

//go:embed undokernel/*.py
var files embed.FS

// Write makes sure that the package is in a subfolder of dir named after its content, and returns
// that folder. Each file is written whole, so that several programs may do so at the same time.
func Write(dir string) (home string, err error) {
	contents, hash := map[string][]byte{}, sha256.New()
	err = fs.WalkDir(files, Module, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		contents[path], err = files.ReadFile(path)
		fmt.Fprintf(hash, "%s %d\n%s", path, len(contents[path]), contents[path])
		return err
	})
	home = filepath.Join(dir, hex.EncodeToString(hash.Sum(nil))[:12])
	for name, content := range contents {
		path := filepath.Join(home, name)
		if err == nil { // nothing is written if it has this content
			err = cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), disk.WriteFile(path, content))
		}
	}
	return home, err
}

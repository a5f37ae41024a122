// Package undokernel holds the Python package of the kernel with checkpoints, which is in this
// folder with its tests. README.md describes it; package rewind uses it.
package undokernel

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
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

// Write makes sure that the package is in a subfolder of dir, and returns that
// folder.
func Write(dir string) (string, error) {
	contents, hash := map[string][]byte{}, sha256.New()
	err := fs.WalkDir(files, Module,
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			contents[path], err = files.ReadFile(path)
			fmt.Fprintf(hash, "%s %d\n%s", path, len(contents[path]), contents[path])
			return err
		})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	home := filepath.Join(dir, hex.EncodeToString(hash.Sum(nil))[:12])
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		if err := writeWhole(home, contents); err != nil {
			return "", err
		}
	}
	return home, writeFiles(home, contents) // rewrites only changed files
}

// writeWhole creates the folder path with all files, or not at all. It is no error if another
// process creates it first.
func writeWhole(path string, files map[string][]byte) error {
	part, err := os.MkdirTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	if err := errors.Join(os.Chmod(part, 0o755), writeFiles(part, files)); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		if _, there := os.Stat(path); there != nil {
			return err
		}
	}
	return nil
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := disk.WriteFile(path, content); err != nil {
			return err
		}
	}
	return nil
}

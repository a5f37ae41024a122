package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mark returns the path of a file in the cache whose being there says something of the parts.
func (a *app) mark(what string, parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return filepath.Join(a.markDir, what, hex.EncodeToString(sum[:]))
}

// maxMarks is how many marks of a kind are kept.
const maxMarks = 10000

func setMark(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	dropMarks(dir, maxMarks)
	return os.WriteFile(path, nil, 0o600)
}

// dropMarks removes the older half of the marks in a folder if there are most or more. A mark that is
// missed costs what it saved, once.
func dropMarks(dir string, most int) {
	entries, _ := os.ReadDir(dir) // as many as could be read
	if len(entries) < most {
		return
	}
	since := make(map[string]time.Time, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it was removed meanwhile
			since[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return since[a.Name()].Compare(since[b.Name()]) })
	for _, e := range entries[:len(entries)-most/2] {
		_ = os.Remove(filepath.Join(dir, e.Name())) // the next time tries again
	}
}

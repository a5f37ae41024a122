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

// stamp returns the path of an empty file in the cache that says something of the parts by being there.
func (a *app) stamp(what string, parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return filepath.Join(a.stampDir, what, hex.EncodeToString(sum[:]))
}

// maxStamps is how many stamps of a kind are kept.
const maxStamps = 10000

func setStamp(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	dropStamps(dir, maxStamps)
	return os.WriteFile(path, nil, 0o600)
}

// dropStamps removes the older half of the stamps in a folder if there are most or more. A stamp that is
// missed costs what it saved, once.
func dropStamps(dir string, most int) {
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

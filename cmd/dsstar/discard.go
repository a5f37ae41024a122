package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// discard removes the folder that a run has made and in which no model has replied, and reports whether
// it has. The folder stays if it holds anything that no run writes, or that somebody has edited.
func discard(f record.Folder, s *saver) bool {
	own := []string{f.Notebook(), f.Files(), f.Trace(), f.Script(), f.Variables(), filepath.Join(string(f), record.DataFolder)}
	foreign := func(entry fs.DirEntry) bool {
		return !slices.Contains(own, filepath.Join(string(f), entry.Name()))
	}
	edited := func(path string, saved []byte) bool {
		now, err := disk.ReadPlain(path, disk.MaxDocument)
		return exists(path) && (err != nil || !bytes.Equal(now, saved))
	}
	entries, err := os.ReadDir(string(f))
	if err != nil || slices.ContainsFunc(entries, foreign) || edited(f.Notebook(), s.saved[0]) || edited(f.Script(), s.saved[1]) {
		return false
	}
	return disk.RemoveFolder(string(f)) == nil
}
